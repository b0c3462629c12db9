// The magnitude twin of a graph: the same graph on absolute values, whose outputs are the sums of |a||b| that rounding
// errors of the original are bounded by.
// In: a graph of operators that numbers_of calls kMoves, kSums, kMild or kIntegers (study().may_size). Out: another
// graph with the same inputs and outputs, to be fed with the magnitudes of the inputs.
// Cost: the float constants are copied.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, ch. 3.
#pragma once

#include "ir/graph.h"

namespace collage {

/// Differences become sums, gentle functions the identity, constants their magnitudes.
[[nodiscard]] Graph magnitude_twin(const Graph& graph);

/// |tensor|; types that are no usual floats as they are.
[[nodiscard]] Tensor magnitudes_of(const Tensor& tensor);

}  // namespace collage
