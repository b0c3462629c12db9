// Judges outputs that are indices (ArgMax, ArgMin, TopK, NonMaxSuppression) by the values that they select: of two
// elements that are equal within the tolerance, either may be selected.
// In:  a graph; or indices together with the tensor that they index. Out: which tensor the indices of an output refer
//       to; a comparison.
// Cost: one look-up for each index, and one pass over the indexed tensor for its largest magnitude.
#pragma once

#include <optional>

#include "numbers/compare.h"
#include "region/region.h"

namespace collage {

enum class ChoiceKind : std::uint8_t {
  kAlongAxis,  ///< indices along one axis of the data: ArgMax, ArgMin, TopK
  kBoxes       ///< rows (batch, class, box) of scores [batch, class, box]: NonMaxSuppression
};

/// The tensor and axis to which the indices in a value refer.
struct ChoiceRule {
  ValueId data;
  std::int64_t axis = 0;  ///< kAlongAxis; not negative
  ChoiceKind kind = ChoiceKind::kAlongAxis;
};

/// A rule with the data that it needs.
struct Choice {
  Tensor data;
  std::int64_t axis = 0;
  ChoiceKind kind = ChoiceKind::kAlongAxis;
};

/// The rule of an integer value that a node of the region chose, or that comes from one through operators that keep
/// the order of elements. Nothing for other values.
[[nodiscard]] std::optional<ChoiceRule> choice_behind(const Graph& graph, const Uses& uses, const Region& region,
                                                      ValueId value);

/// Right when every index is a legal one that points at a value equal to what the expected one points at, within the
/// accuracy class, and no two along the axis are the same. `seen` and `allowed` of a failure are indices.
[[nodiscard]] Comparison compare_choice(const Tensor& seen, const Tensor& expected, const Choice& choice,
                                        Accuracy accuracy, bool model_is_16bit);

}  // namespace collage
