// The rules of operators: each adds what one node computes to a program. Internal to lowering/.
// In: a composer, a node. Out: nothing, or why the library does not compute the node in this layout.
#pragma once

#include <optional>
#include <vector>

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

/// A product of bytes: of a QLinear operator, or of one between DequantizeLinear and QuantizeLinear.
struct ByteProduct {
  Bytes source;
  Bytes weights;             ///< constants; scales of all, or of each output
  std::vector<double> bias;  ///< real numbers, one for each output; empty for none
  Bytes result;
};

[[nodiscard]] Done lower_byte_convolution(Composer& composer, const Node& node, const ByteProduct& product);
/// MatMul, Gemm and QLinearMatMul.
[[nodiscard]] Done lower_byte_matmul(Composer& composer, const Node& node, const ByteProduct& product);
/// Gives `op` its operands, and adds it. `weights` says how the library reads them, with outputs along `channels`.
[[nodiscard]] Done add_byte_product(Composer& composer, Op op, const ByteProduct& product, TensorInfo weights,
                                    int channels);
/// Weights in bytes beside a source of real numbers; nothing where the node has none, or not such.
[[nodiscard]] std::optional<int> scaled_weights(Composer& composer, const Node& node, float factor);

/// A refusal where a node reads bytes as real numbers which have no such tensor.
[[nodiscard]] Done need_readable(Composer& composer, const Node& node);

[[nodiscard]] Done lower_dequantise(Composer& composer, const Node& node);
[[nodiscard]] Done lower_quantise(Composer& composer, const Node& node);
[[nodiscard]] Done lower_qlinear_convolution(Composer& composer, const Node& node);
[[nodiscard]] Done lower_qlinear_matmul(Composer& composer, const Node& node);
/// QLinearAdd and QLinearMul of com.microsoft.
[[nodiscard]] Done lower_qlinear_binary(Composer& composer, const Node& node);
/// QLinearLeakyRelu, QLinearSigmoid and QLinearGlobalAveragePool of com.microsoft.
[[nodiscard]] Done lower_qlinear_unary(Composer& composer, const Node& node);
/// Computes a node between DequantizeLinear and QuantizeLinear in bytes, with the quantiser and limits before it.
/// Nothing when it is no such node.
[[nodiscard]] std::optional<Done> lower_in_bytes(Composer& composer, const Node& node,
                                                 Done (*rule)(Composer&, const Node&));

/// The one number of a constant.
[[nodiscard]] std::optional<float> number_of(const Graph& graph, ValueId id);

}  // namespace collage::xnnpack
