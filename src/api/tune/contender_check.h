// Checks that the contenders of a bench compute the right numbers.
// In:  the user's model, inputs, the outputs of a contender. Out: a verdict in the plan's accuracy class.
// Cost: for each set of inputs one run of the reference, and one comparison for each output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/tune/gather_inputs.h"
#include "api/tune/reference_model.h"
#include "api/tune/source_model.h"
#include "backend/registry.h"
#include "numbers/output_bound.h"

namespace collage {

/// The verdict on the outputs of one contender.
struct NumbersCheck {
  enum class Verdict : std::uint8_t { kUnchecked, kRight, kWrong };
  Verdict verdict = Verdict::kUnchecked;
  std::string output;  ///< the worst one
  double max_abs = 0;  ///< there; infinite where NaN or infinity stands in the wrong place
  double max_rel = 0;  ///< there
  std::string detail;  ///< kWrong: element, seen, expected, allowed
  [[nodiscard]] bool is_wrong() const { return verdict == Verdict::kWrong; }
};
/// "unchecked", "right", "wrong".
[[nodiscard]] std::string_view name_of(NumbersCheck::Verdict verdict);

/// The reference's outputs for some inputs, and the bound they are judged by.
struct ExpectedNumbers {
  std::vector<std::string> names;
  ReferenceOutputs outputs;
  OutputBound bound;
};

/// A set of inputs and what the reference computes from it. Nothing where it cannot tell: all is unchecked then.
struct CheckedSet {
  std::vector<Tensor> inputs;
  std::optional<ExpectedNumbers> expected = std::nullopt;
};

/// The first is made as `made` says. In class fast there are three more, of the next seeds: what 16 bits err differs
/// from input to input. Notes say where the reference runs the imported graph, and where it cannot tell; then the first
/// is the only one. Errors of gather_inputs().
[[nodiscard]] Result<std::vector<CheckedSet>> checked_sets(const SourceModel& source, GatherOptions made,
                                                           const OutputBound& bound, Registry& registry,
                                                           std::vector<std::string>& notes);

/// The output furthest out of its bound, or with the largest error where all are inside.
[[nodiscard]] NumbersCheck check_numbers(const std::vector<Tensor>& seen, const ExpectedNumbers& expected);

}  // namespace collage
