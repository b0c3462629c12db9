#include "backends/common/quantised/bytes.h"

#include <algorithm>
#include <cmath>

namespace collage {
namespace {

std::unexpected<Refusal> refuse_bytes(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

/// Numbers in blocks, and casts on the way, are other operators than libraries have.
std::expected<void, Refusal> check_attributes(const Node& node) {
  if (attribute_or<std::int64_t>(node, "block_size", 0) != 0)
    return refuse_bytes(RefusalReason::kAttribute, "scales of blocks");
  if (attribute_or<std::int64_t>(node, "precision", 0) != 0)
    return refuse_bytes(RefusalReason::kAttribute, "precision");
  return {};
}

std::int64_t axis_of(const Graph& graph, const Node& node) {
  const auto axis = attribute_or<std::int64_t>(node, "axis", 1);
  return axis < 0 ? axis + std::ssize(graph.value(node.inputs[0]).type.extents()) : axis;
}

}  // namespace

std::expected<Bytes, Refusal> bytes_of(const Graph& graph, ValueId id, ValueId scale, ValueId zero, std::int64_t axis) {
  const ValueType& type = graph.value(id).type;
  if (!is_byte(type.element))
    return refuse_bytes(RefusalReason::kType, "quantised to " + std::string(name_of(type.element)));
  const Tensor* scales = constant_of(graph, scale);
  if (scales == nullptr || scales->type != ElementType::kFloat32 || scales->size() < 1)
    return refuse_bytes(RefusalReason::kStructure, "scales that are no constants of f32");
  Bytes bytes{.id = id, .type = type.element, .axis = axis};
  const auto numbers = scales->data.as<float>();
  bytes.scales.assign(numbers.begin(), numbers.end());
  if (!std::ranges::all_of(bytes.scales, [](float one) { return std::isnormal(one) && one > 0.F; }))
    return refuse_bytes(RefusalReason::kAttribute, "a scale that is not positive");
  if (bytes.scales.size() > 1) {
    const Extents extents = type.extents();
    if (scales->extents.size() != 1 || axis < 0 || axis >= std::ssize(extents) ||
        extents[static_cast<std::size_t>(axis)] != scales->size())
      return refuse_bytes(RefusalReason::kShape, "scales along no axis");
  }
  if (!zero.valid()) return bytes;
  const Tensor* zeros = constant_of(graph, zero);
  const auto integers = zeros != nullptr ? integers_of(*zeros) : std::nullopt;
  if (!integers || integers->empty()) return refuse_bytes(RefusalReason::kStructure, "computed zero points");
  if (!std::ranges::all_of(*integers, [&](std::int64_t one) { return one == integers->front(); }))
    return refuse_bytes(RefusalReason::kAttribute, "several zero points");
  bytes.zero = integers->front();
  return bytes;
}

std::expected<Bytes, Refusal> dequantised(const Graph& graph, const Node& node) {
  if (auto ok = check_attributes(node); !ok) return std::unexpected(ok.error());
  if (graph.value(node.outputs[0]).type.element != ElementType::kFloat32)
    return refuse_bytes(RefusalReason::kType, "dequantised to other than f32");
  return bytes_of(graph, node.inputs[0], node.inputs[1], input_of(node, 2), axis_of(graph, node));
}

std::expected<Bytes, Refusal> quantised(const Graph& graph, const Node& node) {
  if (auto ok = check_attributes(node); !ok) return std::unexpected(ok.error());
  if (graph.value(node.inputs[0]).type.element != ElementType::kFloat32)
    return refuse_bytes(RefusalReason::kType, "quantised from other than f32");
  auto bytes = bytes_of(graph, node.outputs[0], node.inputs[1], input_of(node, 2), axis_of(graph, node));
  if (bytes && !bytes->has_one_scale()) return refuse_bytes(RefusalReason::kAttribute, "several scales of a result");
  return bytes;
}

std::expected<std::vector<double>, Refusal> bias_of(const Graph& graph, ValueId id, const std::vector<double>& scale) {
  const Tensor* tensor = constant_of(graph, id);
  if (tensor == nullptr) return refuse_bytes(RefusalReason::kStructure, "a computed bias");
  if (tensor->type == ElementType::kFloat32) return *floats_of(*tensor);
  if (tensor->type != ElementType::kInt32)
    return refuse_bytes(RefusalReason::kType, "a bias of other than f32 and i32");
  const auto steps = integers_of(*tensor);
  if (scale.size() != 1 && scale.size() != steps->size())
    return refuse_bytes(RefusalReason::kShape, "scales of a bias");
  std::vector<double> bias;
  for (const std::int64_t one : *steps)
    bias.push_back(static_cast<double>(one) * scale[scale.size() == 1 ? 0 : bias.size()]);
  return bias;
}

}  // namespace collage
