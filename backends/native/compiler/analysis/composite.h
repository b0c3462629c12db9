// Recognises heavy operators that exporters write as several nodes.
// In:  a region. Out: the operator as one node over values of the graph, and the nodes that it replaces.
// How: group normalisation is Reshape -> InstanceNormalization -> Reshape; attention is MatMul -> Softmax -> MatMul
//       (attention_form.h).
// Cost: linear in the region.
// Source: the patterns of PyTorch's and TensorFlow's exporters.
#pragma once

#include "compiler/analysis/site.h"

namespace collage::native {

struct Composite {
  Node node;      ///< its first output is the result
  NodeSet nodes;  ///< of the region
};

/// Nothing when the region contains no composite. The caller checks the other nodes.
[[nodiscard]] std::optional<Composite> composite_of(const Graph& graph, const Region& region);

}  // namespace collage::native
