// The rules of operators: each adds what one node computes to a program. Internal to lowering/.
// In: a composer, a node. Out: nothing, or why the library does not compute the node in this layout.
#pragma once

#include "lowering/composer.h"

namespace collage::xnnpack {

[[nodiscard]] Done lower_convolution(Composer& composer, const Node& node);
[[nodiscard]] Done lower_deconvolution(Composer& composer, const Node& node);
[[nodiscard]] Done lower_pooling(Composer& composer, const Node& node);
[[nodiscard]] Done lower_resize(Composer& composer, const Node& node);

[[nodiscard]] Done lower_matmul(Composer& composer, const Node& node);
[[nodiscard]] Done lower_gemm(Composer& composer, const Node& node);
/// An addend of one number for each channel, as the bias of the product or convolution before it; false where it is
/// none.
[[nodiscard]] bool add_as_bias(Composer& composer, const Node& node);

[[nodiscard]] Done lower_unary(Composer& composer, const Node& node);
[[nodiscard]] Done lower_clip(Composer& composer, const Node& node);
[[nodiscard]] Done lower_hard_sigmoid(Composer& composer, const Node& node);
[[nodiscard]] Done lower_binary(Composer& composer, const Node& node);

[[nodiscard]] Done lower_softmax(Composer& composer, const Node& node);
[[nodiscard]] Done lower_reduction(Composer& composer, const Node& node);
[[nodiscard]] Done lower_transpose(Composer& composer, const Node& node);
[[nodiscard]] Done lower_reshape(Composer& composer, const Node& node);
[[nodiscard]] Done lower_concat(Composer& composer, const Node& node);
[[nodiscard]] Done lower_pad(Composer& composer, const Node& node);

/// The one number of a constant.
[[nodiscard]] std::optional<float> number_of(const Graph& graph, ValueId id);

}  // namespace collage::xnnpack
