// The input sets that a region's candidates are judged on besides the recorded one: a seeded set in the domain that the
// record shows, and adversarial ones (large values; ties, zeros, denormals) where the region's operators allow them to
// be judged. What is expected comes from the reference, run on the region.
// In: a region, its recorded inputs, the reference backend. Out: sets, none when nothing but the record can be judged:
//     the region is not understood, or the reference refuses it, or gives numbers that are not finite.
// Cost: two compilations and at most five runs by the reference; long regions get fewer sets.
// docs/NUMBERS.md says which set finds which faults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "numbers/choice.h"

namespace collage {

/// Inputs with what is expected of them.
struct InputSet {
  std::string name;                            ///< "seeded", "large", "ties"
  std::vector<Tensor> inputs;                  ///< by input of the region
  std::vector<Tensor> expected;                ///< by output of the region
  std::vector<Tensor> sizes;                   ///< sums of |a||b| by output; empty: bounds scale with `expected`
  std::vector<std::optional<Choice>> choices;  ///< by output, for indices
  bool is_cheap = false;                       ///< worth another run after the timing
};

struct InputSetOptions {
  Accuracy accuracy = Accuracy::kStandard;
  std::uint64_t seed = 1;
};

/// `recorded` holds the region's inputs in order. Never fails: a set that cannot be made is left out.
[[nodiscard]] std::vector<InputSet> make_input_sets(const Graph& graph, const Uses& uses, const Region& region,
                                                    const std::vector<Tensor>& recorded, Backend& reference,
                                                    const InputSetOptions& options);

}  // namespace collage
