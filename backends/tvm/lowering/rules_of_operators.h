// The rules of operators: each adds what one node computes to a description. Internal to lowering/.
// In: a describer, a node. Out: nothing, or why the node is not computed in this layout.
#pragma once

#include "backends/tvm/lowering/describer.h"

namespace collage::tvm {

[[nodiscard]] Done lower_convolution(Describer& describer, const Node& node);
[[nodiscard]] Done lower_pooling(Describer& describer, const Node& node);

[[nodiscard]] Done lower_matmul(Describer& describer, const Node& node);
[[nodiscard]] Done lower_gemm(Describer& describer, const Node& node);

[[nodiscard]] Done lower_unary(Describer& describer, const Node& node);
[[nodiscard]] Done lower_clip(Describer& describer, const Node& node);
[[nodiscard]] Done lower_slope(Describer& describer, const Node& node);
[[nodiscard]] Done lower_hard(Describer& describer, const Node& node);
[[nodiscard]] Done lower_pow(Describer& describer, const Node& node);
[[nodiscard]] Done lower_binary(Describer& describer, const Node& node);

[[nodiscard]] Done lower_softmax(Describer& describer, const Node& node);
[[nodiscard]] Done lower_reduction(Describer& describer, const Node& node);

}  // namespace collage::tvm
