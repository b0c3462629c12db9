// Heads that slide a window: convolutions and poolings.
#include "analysis/heads.h"

namespace collage::onednn {
namespace {

/// The shapes every windowed head needs: batch, channels, one to three spatial axes, all static.
std::expected<void, Refusal> check_activation(const Extents& in, const Extents& out) {
  if (in.size() < 3 || in.size() > 5 || out.size() != in.size())
    return refuse(RefusalReason::kShape, "only one to three spatial axes");
  return {};
}

std::expected<void, Refusal> check_weights(const Graph& graph, const Node& node, std::size_t rank) {
  if (!is_constant(graph, node.inputs[1])) return refuse(RefusalReason::kStructure, "computed weights");
  if (extents_of(graph, node.inputs[1]).size() != rank) return refuse(RefusalReason::kShape, "weights of another rank");
  const ValueId bias = input_of(node, 2);
  if (bias.valid() && !is_constant(graph, bias)) return refuse(RefusalReason::kStructure, "computed bias");
  return {};
}

Extents dilations_from_zero(Extents dilations) {
  for (std::int64_t& dilation : dilations) --dilation;
  return dilations;
}

std::expected<void, Refusal> read_global_pooling(const Graph& graph, const Analysis& analysis, PoolingFacts& facts) {
  const Extents in = spatial(extents_of(graph, analysis.source));
  const Extents ones(in.size(), 1);
  const Extents zeros(in.size(), 0);
  facts.window = {.kernel = in, .strides = ones, .dilations = zeros, .begin = zeros, .end = zeros};
  return {};
}

/// A window that starts past the data has nothing to take the maximum or average of.
std::expected<void, Refusal> check_pooling_window(const Window& window) {
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    if (window.begin[axis] >= window.kernel[axis] || window.end[axis] >= window.kernel[axis])
      return refuse(RefusalReason::kAttribute, "padding as large as the window");
    if (window.dilations[axis] != 1) return refuse(RefusalReason::kAttribute, "dilated pooling");
  }
  return {};
}

}  // namespace

std::expected<void, Refusal> read_convolution(const Graph& graph, const Node& node, ValueId source,
                                              const Padding& padding, ConvolutionFacts& facts) {
  facts.source = source;
  facts.in = extents_of(graph, source);
  facts.out = extents_of(graph, node.outputs[0]);
  if (const auto ok = check_activation(facts.in, facts.out); !ok) return ok;
  if (const auto ok = check_weights(graph, node, facts.in.size()); !ok) return ok;
  facts.weights = node.inputs[1];
  facts.bias = input_of(node, 2);
  facts.groups = attribute_or<std::int64_t>(node, "group", 1);
  const Extents kernel = spatial(extents_of(graph, facts.weights));
  auto window = window_of(node, kernel, spatial(facts.in), spatial(facts.out), padding.begin, padding.end);
  if (!window) return std::unexpected(window.error());
  if (window->sticks_out) return refuse(RefusalReason::kShape, "output larger than the window reaches");
  facts.window = *window;
  facts.window.dilations = dilations_from_zero(window->dilations);
  return {};
}

std::expected<void, Refusal> read_deconvolution(const Graph& graph, const Analysis& analysis, ConvolutionFacts& facts) {
  const Node& node = *analysis.node;
  facts.source = analysis.source;
  facts.in = extents_of(graph, analysis.source);
  facts.out = extents_of(graph, node.outputs[0]);
  if (const auto ok = check_activation(facts.in, facts.out); !ok) return ok;
  if (const auto ok = check_weights(graph, node, facts.in.size()); !ok) return ok;
  facts.weights = node.inputs[1];
  facts.bias = input_of(node, 2);
  facts.groups = attribute_or<std::int64_t>(node, "group", 1);
  const Extents kernel = spatial(extents_of(graph, facts.weights));
  auto window = transposed_window_of(node, kernel, spatial(facts.in), spatial(facts.out));
  if (!window) return std::unexpected(window.error());
  facts.window = *window;
  facts.window.dilations = dilations_from_zero(window->dilations);
  return {};
}

std::expected<void, Refusal> read_pooling(const Graph& graph, const Padding& padding, const Analysis& analysis,
                                          PoolingFacts& facts) {
  const Node& node = *analysis.node;
  const Extents in = extents_of(graph, analysis.source);
  const Extents out = extents_of(graph, node.outputs[0]);
  if (const auto ok = check_activation(in, out); !ok) return ok;
  if (node.outputs.size() > 1 && node.outputs[1].valid())
    return refuse(RefusalReason::kOperator, "MaxPool with indices");
  facts.source = analysis.source;
  const bool averages = node.op_type.ends_with("AveragePool");
  const bool includes = attribute_or<std::int64_t>(node, "count_include_pad", 0) != 0 || !padding.begin.empty();
  facts.algorithm = !averages ? "max" : includes ? "avg_include_padding" : "avg_exclude_padding";
  if (node.op_type.starts_with("Global")) return read_global_pooling(graph, analysis, facts);
  const auto* kernel = find_attribute<std::vector<std::int64_t>>(node, "kernel_shape");
  if (kernel == nullptr || kernel->size() + 2 != in.size()) return refuse(RefusalReason::kAttribute, "kernel_shape");
  auto window = window_of(node, *kernel, spatial(in), spatial(out), padding.begin, padding.end);
  if (!window) return std::unexpected(window.error());
  if (const auto ok = check_pooling_window(*window); !ok) return ok;
  if (averages && includes && window->sticks_out)
    return refuse(RefusalReason::kAttribute, "ceil_mode with counted padding");
  facts.window = *window;
  facts.window.dilations = dilations_from_zero(window->dilations);
  return {};
}

}  // namespace collage::onednn
