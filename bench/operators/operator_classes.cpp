#include "bench/operators/operator_classes.h"

#include <algorithm>
#include <set>
#include <string>

namespace collage::bench {
namespace {

constexpr std::int64_t kLeastChannels = 32;
constexpr std::int64_t kMostChannels = 128;
constexpr std::int64_t kLeastMap = 20;

Extents extents_of(const Graph& graph, ValueId id) {
  return id.valid() && graph.value(id).type.is_static() ? graph.value(id).type.extents() : Extents{};
}

bool are_all(std::span<const std::int64_t> values, std::int64_t wanted) {
  return std::ranges::all_of(values, [&](std::int64_t value) { return value == wanted; });
}

bool are_ones(const Node& node, std::string_view attribute) {
  const auto* values = find_attribute<std::vector<std::int64_t>>(node, attribute);
  return values == nullptr || are_all(*values, 1);
}

/// Of a convolution in two dimensions without groups: where Winograd's method applies.
bool is_plain_3x3(const Node& node, const Extents& weights) {
  return are_all(std::span(weights).subspan(2), 3) && are_ones(node, "strides") && are_ones(node, "dilations");
}

/// Where it should gain most.
bool suits_winograd(const Extents& weights, const Extents& out) {
  const auto fits = [](std::int64_t channels) { return channels >= kLeastChannels && channels <= kMostChannels; };
  return fits(weights[0]) && fits(weights[1]) && out[2] >= kLeastMap && out[3] >= kLeastMap;
}

std::string_view convolution_class(const Graph& graph, const Node& node) {
  const Extents in = extents_of(graph, input_of(node, 0));
  const Extents weights = extents_of(graph, input_of(node, 1));
  const Extents out = extents_of(graph, node.outputs[0]);
  if (in.size() < 3 || weights.size() != in.size() || out.size() != in.size()) return {};
  const auto groups = attribute_or<std::int64_t>(node, "group", 1);
  if (groups > 1 && groups == in[1]) return "depthwise";
  if (groups > 1 || in.size() != 4) return "conv_other";
  if (are_all(std::span(weights).subspan(2), 1)) return "conv_pointwise";
  if (!is_plain_3x3(node, weights)) return "conv_direct";
  return suits_winograd(weights, out) ? "conv_winograd" : "conv_3x3";
}

bool has_constant_operand(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](ValueId id) { return constant_of(graph, id) != nullptr; });
}

bool is_among(const Node& node, const std::set<std::string, std::less<>>& names) {
  return node.domain.empty() && names.contains(node.op_type);
}

}  // namespace

bool is_integer_product(const Node& node) {
  return is_among(node, {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"});
}

std::string_view class_of(const Graph& graph, const Node& node) {
  static const std::set<std::string, std::less<>> kPooling = {"AveragePool", "GlobalAveragePool", "GlobalMaxPool",
                                                              "LpPool", "MaxPool"};
  static const std::set<std::string, std::less<>> kNorms = {
      "GroupNormalization",        "InstanceNormalization", "LayerNormalization", "LpNormalization", "LRN",
      "MeanVarianceNormalization", "RMSNormalization"};
  if (is_integer_product(node)) return "int8";
  if (is_op(node, "Conv")) return convolution_class(graph, node);
  if (is_op(node, "ConvTranspose")) return "conv_transpose";
  if (is_op(node, "Gemm")) return "matmul";
  if (is_op(node, "MatMul")) return has_constant_operand(graph, node) ? "matmul" : "batch_matmul";
  if (is_op(node, "Attention")) return "attention";
  if (is_op(node, "Softmax") || is_op(node, "LogSoftmax")) return "softmax";
  if (is_among(node, kPooling)) return "pooling";
  if (is_among(node, kNorms)) return "norm";
  return node.domain.empty() && node.op_type.starts_with("Reduce") ? "reduction" : "";
}

bool takes_epilogue(std::string_view class_name) {
  return class_name.starts_with("conv_") || class_name == "depthwise" || class_name.ends_with("matmul") ||
         class_name == "norm" || class_name == "int8";
}

}  // namespace collage::bench
