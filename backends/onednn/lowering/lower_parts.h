// The parts of lower(): one function for each kind of head, and what they share.
#pragma once

#include "lowering/lower.h"

namespace collage::onednn {

using Lowering = std::expected<void, Refusal>;

[[nodiscard]] Lowering lower_convolution(Composer& composer, const Analysis& analysis, const Choice& choice);
/// True for a constant added to every channel of a convolution's result of `out` extents, which is a bias.
[[nodiscard]] bool is_bias(const Graph& graph, const Step& step, const Extents& out);
/// A convolution with its chain from one tensor to another; its post-ops read in `layout`.
[[nodiscard]] std::expected<Op, Refusal> convolution_op(Composer& composer, const Analysis& analysis,
                                                        const std::string& family, Layout layout, int source,
                                                        int output);
/// Gives an operation on bytes its bias, what they stand for, and weights of i8. `bias` are the extents of its bias.
void add_byte_numbers(Composer& composer, const ByteFacts& bytes, Op& op, const Extents& bias);
/// Convolutions in series a few rows at a time.
[[nodiscard]] Lowering lower_series(Composer& composer, const Analysis& analysis, const Choice& choice);
/// Whether what lies between convolutions in series is larger than a cache, and a row of it smaller.
[[nodiscard]] bool gains_from_strips(const Analysis& analysis);
/// A linear Resize as products with matrices of weights, in channels_last.
[[nodiscard]] Lowering lower_resize_by_products(Composer& composer, const Analysis& analysis, const Choice& choice);
/// Convolutions that write to their places in a Concat.
[[nodiscard]] Lowering lower_join(Composer& composer, const Analysis& analysis, const Choice& choice);
/// Whether all parts of a Concat are computed and lie in whole blocks.
[[nodiscard]] bool fills_blocks_in_parts(const Graph& graph, const Analysis& join);
/// Winograd: 3x3, stride 1, dense, two spatial axes.
[[nodiscard]] bool suits_winograd(const ConvolutionFacts& facts);
[[nodiscard]] bool is_pointwise(const ConvolutionFacts& facts);

/// How many groups of a convolution fill a block together; 1 when they fill it alone or never do.
[[nodiscard]] std::int64_t groups_in_block(const ConvolutionFacts& facts);

/// Whether the windows of a transposed convolution lie side by side, followed by nothing that reads a tensor.
[[nodiscard]] bool has_separate_blocks(const Analysis& analysis);
[[nodiscard]] Lowering lower_separate_blocks(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_matmul(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_elementwise(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_pooling(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_concat(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_resampling(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_softmax(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_layer_norm(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_batch_norm(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_reduction(Composer& composer, const Analysis& analysis, const Choice& choice);
[[nodiscard]] Lowering lower_lrn(Composer& composer, const Analysis& analysis, const Choice& choice);

/// The operand of a step against a result of `result` extents written in `layout`; a tensor, or a refusal.
[[nodiscard]] std::expected<int, Refusal> operand_of(Composer& composer, ValueId id, const Extents& result,
                                                     Layout layout);
/// Appends the steps from `first` on as post-ops of `op`, which writes `result` extents in `layout`.
[[nodiscard]] Lowering append_steps(Composer& composer, Op& op, const std::vector<Step>& steps, std::size_t first,
                                    const Extents& result, Layout layout);
[[nodiscard]] PostOp post_of(const Step& step, int operand);

/// Joins neighbouring axes over which every tensor either runs or is broadcast, so that the library sees few axes.
/// All have the rank of the first; row-major. The same joins are applied to each.
[[nodiscard]] std::vector<Extents> joined_axes(const std::vector<Extents>& tensors);

/// At most one extent above 1: the tensor has the same bytes in every dense order.
[[nodiscard]] bool has_one_axis(const Extents& extents);

[[nodiscard]] inline std::unexpected<Refusal> refuse_lowering(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

}  // namespace collage::onednn
