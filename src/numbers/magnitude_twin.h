// The magnitude twin of a graph: the same graph on absolute values. Its outputs are the sums of |a||b|, which bound the
// rounding errors of the original.
// In:  a graph of operators that numbers_of() calls kMoves, kSums, kMild or kIntegers (study().may_size). Out: a graph
//       with the same inputs and outputs, to be run on the magnitudes of the inputs.
// Cost: a copy of the float constants.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, ch. 3.
#pragma once

#include "ir/graph.h"

namespace collage {

/// Differences become sums, functions that amplify errors little become the identity, constants their magnitudes.
[[nodiscard]] Graph magnitude_twin(const Graph& graph);

/// |tensor|; tensors of types other than usual floats are unchanged.
[[nodiscard]] Tensor magnitudes_of(const Tensor& tensor);

}  // namespace collage
