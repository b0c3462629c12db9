#include "backends/openvino/faults.h"

#include <algorithm>
#include <cmath>

namespace collage {
namespace {

std::optional<Refusal> refuse(RefusalReason reason, std::string detail) {
  return Refusal{.reason = reason, .detail = std::move(detail)};
}

std::int64_t integer(const Node& node, std::string_view name) { return attribute_or<std::int64_t>(node, name, 0); }

bool is_any(const Node& node, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return is_op(node, name); });
}

bool has_attribute(const Node& node, std::string_view name) {
  return find_attribute<std::int64_t>(node, name) != nullptr;
}

bool is_small_infinity(const Value& value) {
  constexpr std::size_t kFew = 16;
  if (!value.constant || value.constant->type != ElementType::kFloat32) return false;
  const auto numbers = value.constant->data.as<float>();
  return numbers.size() <= kFew && std::any_of(numbers.begin(), numbers.end(), [](float x) { return std::isinf(x); });
}

std::optional<Refusal> recurrent_fault(const Node& node) {
  // The batch and direction of its last states come out in the order of layout 0.
  if (integer(node, "layout") != 0) return refuse(RefusalReason::kAttribute, node.op_type + " with the batch first");
  if (is_op(node, "LSTM") && input_of(node, 7).valid())
    return refuse(RefusalReason::kStructure, "LSTM with peepholes, which the library leaves out");
  return std::nullopt;
}

std::optional<Refusal> attention_fault(const Graph& graph, const Node& node) {
  // It attends to all keys.
  if (has_attribute(node, "left_window_size") || has_attribute(node, "right_window_size"))
    return refuse(RefusalReason::kAttribute, "Attention to a window");
  // The mask and the causal rule are not both applied to the keys of the past.
  if (integer(node, "is_causal") != 0 && input_of(node, 3).valid() && input_of(node, 4).valid())
    return refuse(RefusalReason::kStructure, "causal Attention with a mask and a past");
  // On processors without AVX-512 it gives numbers where the official results are 0.
  if (integer(node, "is_causal") != 0 && input_of(node, 6).valid() &&
      graph.value(input_of(node, 0)).type.element == ElementType::kBfloat16)
    return refuse(RefusalReason::kType, "causal Attention to padded keys in bf16");
  return std::nullopt;
}

std::optional<Refusal> reduce_fault(const Graph& graph, const Node& node) {
  const ValueType& data = graph.value(input_of(node, 0)).type;
  // The largest of nothing comes out as the lowest finite number instead of -inf.
  if (data.is_static() && element_count(data.extents()) == 0)
    return refuse(RefusalReason::kShape, node.op_type + " of nothing");
  // So does the largest of -inf only. That is told apart from numbers by models that hold an infinity to compare with.
  if (std::any_of(graph.values.begin(), graph.values.end(), is_small_infinity))
    return refuse(RefusalReason::kStructure, node.op_type + " in a graph with an infinite constant");
  return std::nullopt;
}

bool is_empty(const Graph& graph, ValueId id) {
  if (!id.valid()) return false;
  const ValueType& type = graph.value(id).type;
  return type.is_static() && element_count(type.extents()) == 0;
}

/// It divides by the number of elements and dies, or gives what the memory held.
std::optional<Refusal> empty_fault(const Graph& graph, const Node& node) {
  static constexpr auto kNames = {"ArgMax",
                                  "ArgMin",
                                  "Gather",
                                  "GatherElements",
                                  "GatherND",
                                  "GlobalMaxPool",
                                  "GlobalAveragePool",
                                  "LayerNormalization",
                                  "Resize"};
  const bool is_this = std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return is_op(node, name); });
  if (!is_this) return std::nullopt;
  const bool looks_up = node.op_type.starts_with("Gather") && is_empty(graph, input_of(node, 1));
  if (!looks_up && !is_empty(graph, input_of(node, 0))) return std::nullopt;
  return refuse(RefusalReason::kShape, node.op_type + " of nothing");
}

/// It reads on behind the axis.
std::optional<Refusal> compress_fault(const Graph& graph, const Node& node) {
  const auto* const axis = find_attribute<std::int64_t>(node, "axis");
  const ValueType& data = graph.value(input_of(node, 0)).type;
  const ValueType& chosen = graph.value(input_of(node, 1)).type;
  if (data.is_static() && chosen.is_static()) {
    const Extents extents = data.extents();
    const std::int64_t at = axis == nullptr ? 0 : *axis < 0 ? *axis + static_cast<std::int64_t>(extents.size()) : *axis;
    const std::int64_t most = axis == nullptr ? element_count(extents) : extents[static_cast<std::size_t>(at)];
    if (element_count(chosen.extents()) <= most) return std::nullopt;
  }
  return refuse(RefusalReason::kShape, "Compress by a condition that may be longer than the axis");
}

std::optional<Refusal> dft_fault(const Graph& graph, const Node& node) {
  // It reads neither the axis, which it takes for 1, nor the output's length of an inverse transform of half a
  // spectrum.
  const ValueId axis_id = input_of(node, 2);
  const Tensor* axis = constant_of(graph, axis_id);
  const ValueType& data = graph.value(input_of(node, 0)).type;
  const auto rank = data.shape ? static_cast<std::int64_t>(data.shape->size()) : 0;
  const auto values = axis != nullptr ? integers_of(*axis) : std::nullopt;
  const std::int64_t at = axis_id.valid() ? (values && values->size() == 1 ? values->front() : 0) : -2;
  if ((at < 0 ? at + rank : at) != 1) return refuse(RefusalReason::kAttribute, "DFT along another axis than the first");
  if (integer(node, "inverse") != 0 && integer(node, "onesided") != 0)
    return refuse(RefusalReason::kAttribute, "DFT back from half a spectrum");
  return std::nullopt;
}

std::optional<Refusal> cast_fault(const Graph& graph, const Node& node) {
  // f64 is held as f32, and infinities become the largest finite number.
  for (const ValueId id : {node.inputs[0], node.outputs[0]})
    if (graph.value(id).type.element == ElementType::kFloat64)
      return refuse(RefusalReason::kType, node.op_type + " to or from f64");
  return std::nullopt;
}

std::optional<Refusal> resize_fault(const Node& node) {
  // Smoothing and the weights of what lies outside come out otherwise than ONNX says, and so do extents that keep
  // ratio.
  if (integer(node, "antialias") != 0 || integer(node, "exclude_outside") != 0)
    return refuse(RefusalReason::kAttribute, "Resize with antialias or exclude_outside");
  if (attribute_or<std::string>(node, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return refuse(RefusalReason::kAttribute, "Resize that keeps the ratio of its extents");
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> openvino_fault(const Graph& graph, const Node& node) {
  if (is_any(node, {"RNN", "GRU", "LSTM"})) return recurrent_fault(node);
  if (auto fault = empty_fault(graph, node)) return fault;
  if (is_op(node, "Compress")) return compress_fault(graph, node);
  if (is_any(node, {"ReduceMax", "ReduceMin"})) return reduce_fault(graph, node);
  if (is_op(node, "DFT")) return dft_fault(graph, node);
  if (is_any(node, {"Cast", "CastLike"})) return cast_fault(graph, node);
  if (is_op(node, "Resize")) return resize_fault(node);
  // It takes the largest of other points than the mean.
  if (is_op(node, "RoiAlign") && attribute_or<std::string>(node, "mode", "avg") == "max")
    return refuse(RefusalReason::kAttribute, "RoiAlign of maxima");
  // Its halves are those of interleaved pairs.
  if (is_op(node, "RotaryEmbedding")) return refuse(RefusalReason::kOperator, "RotaryEmbedding");
  if (is_op(node, "Attention")) return attention_fault(graph, node);
  // What lies beyond the range of a byte comes out modulo 256.
  if (node.domain == "com.microsoft" && node.op_type.starts_with("QLinear"))
    return refuse(RefusalReason::kOperator, node.op_type);
  // The divisor counts what lies behind the padding.
  if (is_op(node, "AveragePool") && integer(node, "ceil_mode") != 0 && integer(node, "count_include_pad") != 0)
    return refuse(RefusalReason::kAttribute, "AveragePool of padding with its extents rounded up");
  // The result is not that of the repeats.
  if (is_op(node, "Tile") && constant_of(graph, input_of(node, 1)) == nullptr)
    return refuse(RefusalReason::kStructure, "Tile with computed repeats");
  return std::nullopt;
}

}  // namespace collage
