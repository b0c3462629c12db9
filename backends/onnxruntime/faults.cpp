#include "backends/onnxruntime/faults.h"

#include <algorithm>

namespace collage {
namespace {

/// The extent along an axis counted from the end; nothing when it is not known.
std::optional<std::int64_t> extent_from_end(const Graph& graph, ValueId id, std::size_t from_end) {
  if (!id.valid() || !graph.value(id).type.is_static()) return std::nullopt;
  const Extents extents = graph.value(id).type.extents();
  if (extents.size() < from_end) return std::nullopt;
  return extents[extents.size() - from_end];
}

bool has_output(const Node& node, std::size_t i) { return i < node.outputs.size() && node.outputs[i].valid(); }

std::optional<Refusal> attention_fault(const Graph& graph, const Node& node) {
  const ValueId mask = input_of(node, 3);
  if (!mask.valid()) return std::nullopt;
  const auto masked = extent_from_end(graph, mask, 1);
  const auto keys = extent_from_end(graph, input_of(node, 1), 2);
  const auto past = input_of(node, 4).valid() ? extent_from_end(graph, input_of(node, 4), 2) : 0;
  // ONNX pads a mask that is shorter than the keys; the library fails when it runs.
  if (masked && keys && past && *masked < *keys + *past)
    return Refusal{.reason = RefusalReason::kShape, .detail = "Attention with a mask shorter than its keys"};
  // The fourth output then holds the lowest finite number where ONNX has -inf.
  if (has_output(node, 3) && attribute_or<std::int64_t>(node, "is_causal", 0) != 0)
    return Refusal{.reason = RefusalReason::kStructure, .detail = "Attention that gives its causally masked scores"};
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> onnxruntime_fault(const Graph& graph, const Node& node) {
  if (is_op(node, "Attention")) return attention_fault(graph, node);
  if (is_op(node, "ConvInteger") && input_of(node, 3).valid()) {
    // It fails when it runs: "Non per-tensor quantization is not supported now".
    const ValueType& zero = graph.value(input_of(node, 3)).type;
    if (!zero.is_static() || element_count(zero.extents()) != 1)
      return Refusal{.reason = RefusalReason::kShape, .detail = "ConvInteger with a zero point for each channel"};
  }
  if (is_op(node, "ReduceMax")) {
    // It fails when it runs: "not defined for empty set with bool type".
    const ValueType& data = graph.value(input_of(node, 0)).type;
    if (data.element == ElementType::kBool && data.is_static() && element_count(data.extents()) == 0)
      return Refusal{.reason = RefusalReason::kShape, .detail = "ReduceMax of no bool"};
  }
  return std::nullopt;
}

bool onnxruntime_keeps_plain(const Graph&, const Node& node) {
  // Its transpose optimizer reads pads as if there were one for each axis of the input.
  if (is_op(node, "Pad")) return input_of(node, 3).valid();
  // Its transpose optimizer moves the axis and not the blocked scale.
  if (is_op(node, "DequantizeLinear") || is_op(node, "QuantizeLinear"))
    return attribute_or<std::int64_t>(node, "block_size", 0) != 0;
  return false;
}

}  // namespace collage
