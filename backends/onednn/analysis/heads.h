// The analysis functions for head operators, one for each kind: checks the head's node and fills in its parameters.
#pragma once

#include "analysis/analysis.h"

namespace collage::onednn {

/// What a Pad folded in front of a window adds, per spatial axis.
struct Padding {
  Extents begin, end;
};

[[nodiscard]] std::expected<void, Refusal> read_convolution(const Graph& graph, const Node& node, ValueId source,
                                                            const Padding& padding, ConvolutionFacts& facts);
[[nodiscard]] std::expected<void, Refusal> read_deconvolution(const Graph& graph, const Analysis& analysis,
                                                              ConvolutionFacts& facts);
[[nodiscard]] std::expected<void, Refusal> read_pooling(const Graph& graph, const Padding& padding,
                                                        const Analysis& analysis, PoolingFacts& facts);
[[nodiscard]] std::expected<void, Refusal> read_matmul(const Graph& graph, const Analysis& analysis,
                                                       MatMulFacts& facts);
[[nodiscard]] std::expected<void, Refusal> read_concat(const Graph& graph, const Analysis& analysis, ConcatHead& head);
[[nodiscard]] std::expected<void, Refusal> read_resize(const Graph& graph, const Analysis& analysis,
                                                       ResamplingHead& head);
[[nodiscard]] std::expected<void, Refusal> read_softmax(const Graph& graph, const Analysis& analysis,
                                                        SoftmaxHead& head);
[[nodiscard]] std::expected<void, Refusal> read_layer_norm(const Graph& graph, const Analysis& analysis);
[[nodiscard]] std::expected<void, Refusal> read_batch_norm(const Graph& graph, const Analysis& analysis);
/// Makes a pooling of it where that is the same.
[[nodiscard]] std::expected<void, Refusal> read_reduction(const Graph& graph, Analysis& analysis);
[[nodiscard]] std::expected<void, Refusal> read_lrn(const Graph& graph, const Analysis& analysis);

/// A region that ends in a Concat and begins with convolutions.
[[nodiscard]] std::expected<Analysis, Refusal> analyse_join(const Graph& graph, const Region& region);
/// A region of convolutions each of which reads the one before.
[[nodiscard]] std::expected<Analysis, Refusal> analyse_series(const Graph& graph, const Region& region);

/// A region with a convolution or product of bytes, and the quantisers around it.
[[nodiscard]] std::expected<Analysis, Refusal> analyse_bytes(const Graph& graph, const Region& region);
/// Whether it has quantisers, or such an operator.
[[nodiscard]] bool has_bytes(const Graph& graph, const Region& region);

/// Shorthands shared by the readers.
[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}
[[nodiscard]] inline bool is_constant(const Graph& graph, ValueId id) { return constant_of(graph, id) != nullptr; }
[[nodiscard]] inline Extents extents_of(const Graph& graph, ValueId id) { return graph.value(id).type.extents(); }

}  // namespace collage::onednn
