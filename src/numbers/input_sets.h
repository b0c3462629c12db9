// The input sets on which a region's candidates are checked in addition to the recorded inputs: one set of random
// values in the recorded range, and adversarial sets (large values; ties, zeros, denormals) where the region's
// operators allow a judgement on them. A region with inputs of open shape is checked on the recorded values in other
// extents instead, one with strings, sequences, optionals or maps at its border on the recorded values alone. The
// reference backend computes the expected outputs. In:  a region, its recorded inputs, the reference backend. Out:
// sets; none when only the record can be judged, because the region is not understood, the reference refuses it,
//       or its results are not finite.
// Cost: two compilations and at most five runs by the reference; long regions get fewer sets.
// docs/NUMBERS.md says which set finds which faults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "numbers/choice.h"

namespace collage {

/// Inputs with the expected outputs.
struct InputSet {
  std::string name;                            ///< "seeded", "large", "ties"; "no rows", "one row", "more rows"
  std::vector<Tensor> inputs;                  ///< by input of the region
  std::vector<Tensor> expected;                ///< by output of the region
  std::vector<Tensor> sizes;                   ///< sums of |a||b| by output; empty: bounds scale with `expected`
  std::vector<std::optional<Choice>> choices;  ///< by output, for indices
  bool is_cheap = false;                       ///< cheap enough for another run after the timing
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
