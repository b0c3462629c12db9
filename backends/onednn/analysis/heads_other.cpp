// Heads without a window: products, joins, resizing, normalisations, reductions.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/heads.h"

namespace collage::onednn {
namespace {

std::int64_t axis_of(const Node& node, std::int64_t fallback, std::size_t rank) {
  const auto axis = attribute_or<std::int64_t>(node, "axis", fallback);
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

std::expected<void, Refusal> need_constants(const Graph& graph, const Node& node, std::size_t from) {
  for (std::size_t i = from; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && !is_constant(graph, node.inputs[i]))
      return refuse(RefusalReason::kStructure, node.op_type + " with computed parameters");
  return {};
}

/// Where output index o lies in the input.
double position_of(std::string_view transform, std::int64_t o, double scale, std::int64_t in, std::int64_t out) {
  const auto at = static_cast<double>(o);
  if (transform == "half_pixel" || (transform == "pytorch_half_pixel" && out > 1)) return (at + 0.5) / scale - 0.5;
  if (transform == "pytorch_half_pixel") return 0;
  if (transform == "align_corners")
    return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  return at / scale;
}

/// The source index that ONNX's "nearest" takes for output index o.
std::int64_t nearest_index(std::string_view transform, std::string_view rounding, std::int64_t o, double scale,
                           std::int64_t in, std::int64_t out) {
  const double x = position_of(transform, o, scale, in, out);
  double index = std::floor(x);
  if (rounding == "ceil") index = std::ceil(x);
  if (rounding == "round_prefer_floor") index = std::ceil(x - 0.5);
  if (rounding == "round_prefer_ceil") index = std::floor(x + 0.5);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(index), 0, in - 1);
}

/// The library's own rule.
std::int64_t library_index(std::int64_t o, std::int64_t in, std::int64_t out) {
  const float x = (static_cast<float>(o) + 0.5F) * static_cast<float>(in) / static_cast<float>(out) - 0.5F;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::round(x)), 0, in - 1);
}

struct ResizeRule {
  std::string transform, rounding;
  std::vector<double> scales;
};

std::expected<ResizeRule, Refusal> resize_rule(const Graph& graph, const Node& node, const Extents& in,
                                               const Extents& out) {
  ResizeRule rule{.transform = attribute_or<std::string>(node, "coordinate_transformation_mode", "half_pixel"),
                  .rounding = attribute_or<std::string>(node, "nearest_mode", "round_prefer_floor"),
                  .scales = {}};
  if (const auto ok = need_constants(graph, node, 1); !ok) return std::unexpected(ok.error());
  if (attribute_or<std::int64_t>(node, "antialias", 0) != 0 ||
      attribute_or<std::string>(node, "keep_aspect_ratio_policy", "stretch") != "stretch" ||
      rule.transform == "tf_crop_and_resize")
    return refuse(RefusalReason::kAttribute, "antialias, cropping or kept aspect ratio");
  for (std::size_t axis = 0; axis < in.size(); ++axis)
    rule.scales.push_back(static_cast<double>(out[axis]) / static_cast<double>(in[axis]));
  const Tensor* scales = constant_of(graph, input_of(node, 2));
  if (scales == nullptr || scales->size() == 0) return rule;
  std::vector<std::int64_t> axes(in.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = attribute_or<std::vector<std::int64_t>>(node, "axes", axes);
  const auto given = floats_of(*scales);
  if (!given || given->size() != axes.size()) return refuse(RefusalReason::kAttribute, "scales of another length");
  for (std::size_t i = 0; i < axes.size(); ++i)
    rule.scales[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(in.size()) : axes[i])] =
        (*given)[i];
  return rule;
}

bool is_same_nearest(const ResizeRule& rule, const Extents& in, const Extents& out) {
  for (std::size_t axis = 0; axis < in.size(); ++axis)
    for (std::int64_t o = 0; o < out[axis]; ++o)
      if (nearest_index(rule.transform, rule.rounding, o, rule.scales[axis], in[axis], out[axis]) !=
          library_index(o, in[axis], out[axis]))
        return false;
  return true;
}

/// The library interpolates at half pixels by the ratio of the extents.
bool is_same_linear(const ResizeRule& rule, const Extents& in, const Extents& out) {
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    if (in[axis] == out[axis] || in[axis] == 1) continue;
    const bool half = rule.transform == "half_pixel" || (rule.transform == "pytorch_half_pixel" && out[axis] > 1);
    const double ratio = static_cast<double>(out[axis]) / static_cast<double>(in[axis]);
    if (!half || std::abs(rule.scales[axis] - ratio) > 1e-6 * ratio) return false;
  }
  return true;
}

/// The positions of output pixels for products; false where that is not how this Resize can be computed.
bool place_pixels(const ResizeRule& rule, const Extents& in, const Extents& out,
                  std::vector<std::vector<float>>& positions) {
  const bool known = rule.transform == "asymmetric" || rule.transform == "align_corners" ||
                     rule.transform == "half_pixel" || rule.transform == "pytorch_half_pixel";
  if (!known || in.size() != 4 || in[0] != 1) return false;
  for (std::size_t axis = 2; axis < 4; ++axis) {
    std::vector<float>& along = positions.emplace_back();
    for (std::int64_t o = 0; o < out[axis]; ++o) {
      const double x = position_of(rule.transform, o, rule.scales[axis], in[axis], out[axis]);
      along.push_back(static_cast<float>(std::clamp(x, 0.0, static_cast<double>(in[axis] - 1))));
    }
  }
  return true;
}

std::string reduction_name(const Node& node) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {
      std::pair{"ReduceMean", "mean"},
      {"ReduceSum", "sum"},
      {"ReduceMax", "max"},
      {"ReduceMin", "min"},
      {"ReduceProd", "mul"},
      {"ReduceL1", "norm_lp_power"},
      {"ReduceL2", "norm_lp"},
      {"ReduceSumSquare", "norm_lp_power"}};
  for (const auto& [operator_name, name] : kNames)
    if (node.op_type == operator_name) return std::string(name);
  return {};
}

/// Averages and maxima over all pixels are poolings, which keep every layout.
Head pooling_or(const Graph& graph, const Analysis& analysis, ReductionHead head) {
  const Extents in = extents_of(graph, analysis.source);
  std::vector<std::int64_t> pixels;
  for (std::size_t axis = 2; axis < in.size(); ++axis) pixels.push_back(static_cast<std::int64_t>(axis));
  const bool fits = head.algorithm == "mean" || head.algorithm == "max" || head.algorithm == "sum";
  if (in.size() < 3 || in.size() > 5 || !fits || head.axes != pixels) return head;
  const Extents kernel = spatial(in);
  const Extents ones(kernel.size(), 1);
  const Extents zeros(kernel.size(), 0);
  return PoolingFacts{.source = analysis.source,
                      .algorithm = head.algorithm == "max" ? "max" : "avg_exclude_padding",
                      .window = {.kernel = kernel, .strides = ones, .dilations = zeros, .begin = zeros, .end = zeros},
                      .factor = head.algorithm == "sum" ? static_cast<float>(element_count(kernel)) : 1.F};
}

}  // namespace

std::expected<void, Refusal> read_matmul(const Graph& graph, const Analysis& analysis, MatMulFacts& facts) {
  const Node& node = *analysis.node;
  facts.a.value = node.inputs[0];
  facts.b.value = node.inputs[1];
  if (node.op_type == "MatMul") {
    if (extents_of(graph, node.inputs[0]).empty() || extents_of(graph, node.inputs[1]).empty())
      return refuse(RefusalReason::kShape, "a scalar factor");
    return {};
  }
  if (attribute_or<std::int64_t>(node, "transA", 0) != 0) facts.a.order = {1, 0};
  if (attribute_or<std::int64_t>(node, "transB", 0) != 0) facts.b.order = {1, 0};
  facts.alpha = attribute_or<float>(node, "alpha", 1.F);
  facts.beta = attribute_or<float>(node, "beta", 1.F);
  facts.bias = input_of(node, 2);
  if (facts.bias.valid() && !is_constant(graph, facts.bias)) return refuse(RefusalReason::kStructure, "computed bias");
  return {};
}

std::expected<void, Refusal> read_concat(const Graph& graph, const Analysis& analysis, ConcatHead& head) {
  const Node& node = *analysis.node;
  const std::size_t rank = extents_of(graph, node.outputs[0]).size();
  if (rank == 0) return refuse(RefusalReason::kShape, "rank 0");
  head.axis = axis_of(node, 0, rank);
  if (node.inputs.size() < 2) return refuse(RefusalReason::kStructure, "Concat of one value");
  return {};
}

std::expected<void, Refusal> read_resize(const Graph& graph, const Analysis& analysis, ResamplingHead& head) {
  const Node& node = *analysis.node;
  const Extents in = extents_of(graph, analysis.source);
  const Extents out = extents_of(graph, node.outputs[0]);
  if (in.size() < 3 || in.size() > 5 || in[0] != out[0] || in[1] != out[1])
    return refuse(RefusalReason::kShape, "only spatial axes of rank 3 to 5 are resized");
  const auto rule = resize_rule(graph, node, in, out);
  if (!rule) return std::unexpected(rule.error());
  const auto mode = attribute_or<std::string>(node, "mode", "nearest");
  if (mode == "nearest" && is_same_nearest(*rule, in, out))
    head.algorithm = "nearest";
  else if (mode == "linear" && is_same_linear(*rule, in, out))
    head.algorithm = "linear";
  else if (mode == "linear" && place_pixels(*rule, in, out, head.positions))
    head.algorithm = "products";
  else
    return refuse(RefusalReason::kAttribute, "Resize " + mode + " " + rule->transform + " has another meaning here");
  return {};
}

std::expected<void, Refusal> read_softmax(const Graph& graph, const Analysis& analysis, SoftmaxHead& head) {
  const Node& node = *analysis.node;
  const std::size_t rank = extents_of(graph, analysis.source).size();
  if (rank == 0) return refuse(RefusalReason::kShape, "rank 0");
  head.axis = axis_of(node, -1, rank);
  head.algorithm = node.op_type == "LogSoftmax" ? "log" : "accurate";
  return {};
}

std::expected<void, Refusal> read_layer_norm(const Graph& graph, const Analysis& analysis) {
  const Node& node = *analysis.node;
  if (const auto ok = need_constants(graph, node, 1); !ok) return ok;
  const Extents in = extents_of(graph, analysis.source);
  const std::int64_t axis = axis_of(node, -1, in.size());
  std::int64_t count = 1;
  for (auto i = static_cast<std::size_t>(axis); i < in.size(); ++i) count *= in[i];
  if (element_count(extents_of(graph, node.inputs[1])) != count)
    return refuse(RefusalReason::kShape, "scale of another size");
  if (attribute_or<std::int64_t>(node, "stash_type", 1) != 1) return refuse(RefusalReason::kAttribute, "stash_type");
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid()) return refuse(RefusalReason::kOperator, "mean and deviation as outputs");
  return {};
}

std::expected<void, Refusal> read_batch_norm(const Graph& graph, const Analysis& analysis) {
  const Node& node = *analysis.node;
  if (const auto ok = need_constants(graph, node, 1); !ok) return ok;
  const std::size_t rank = extents_of(graph, analysis.source).size();
  if (rank < 2 || rank > 5) return refuse(RefusalReason::kShape, "rank " + std::to_string(rank));
  if (attribute_or<std::int64_t>(node, "training_mode", 0) != 0) return refuse(RefusalReason::kAttribute, "training");
  return {};
}

std::expected<void, Refusal> read_reduction(const Graph& graph, Analysis& analysis) {
  const Node& node = *analysis.node;
  if (const auto ok = need_constants(graph, node, 1); !ok) return ok;
  const Extents in = extents_of(graph, analysis.source);
  ReductionHead head{.axes = {}, .algorithm = reduction_name(node)};
  const Tensor* axes = constant_of(graph, input_of(node, 1));
  if (axes != nullptr) head.axes = integers_of(*axes).value_or(std::vector<std::int64_t>{});
  if (head.axes.empty()) {
    if (attribute_or<std::int64_t>(node, "noop_with_empty_axes", 0) != 0)
      return refuse(RefusalReason::kAttribute, "nothing to reduce");
    for (std::size_t axis = 0; axis < in.size(); ++axis) head.axes.push_back(static_cast<std::int64_t>(axis));
  }
  for (std::int64_t& axis : head.axes)
    if (axis < 0) axis += static_cast<std::int64_t>(in.size());
  std::ranges::sort(head.axes);
  if (in.empty()) return refuse(RefusalReason::kShape, "rank 0");
  analysis.head = pooling_or(graph, analysis, std::move(head));
  return {};
}

std::expected<void, Refusal> read_lrn(const Graph& graph, const Analysis& analysis) {
  const std::size_t rank = extents_of(graph, analysis.source).size();
  const auto size = attribute_or<std::int64_t>(*analysis.node, "size", 0);
  if (rank != 4) return refuse(RefusalReason::kShape, "LRN of rank " + std::to_string(rank));
  if (size % 2 == 0) return refuse(RefusalReason::kAttribute, "LRN over an even number of channels");
  return {};
}

}  // namespace collage::onednn
