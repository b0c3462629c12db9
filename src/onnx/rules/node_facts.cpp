#include "onnx/rules/node_facts.h"

#include <cstring>

#include <fmt/format.h>

#include "onnx/tensor_proto.h"

namespace collage {
namespace {

constexpr std::int64_t kMostRead = 4096;

RuleValue value_of(const pb::AttributeProto& attribute) {
  RuleValue value;
  value.is_list = attribute.type() == pb::AttributeProto::INTS || attribute.type() == pb::AttributeProto::FLOATS ||
                  attribute.type() == pb::AttributeProto::STRINGS;
  value.ints.assign(attribute.ints().begin(), attribute.ints().end());
  value.floats.assign(attribute.floats().begin(), attribute.floats().end());
  value.words.assign(attribute.strings().begin(), attribute.strings().end());
  if (attribute.type() == pb::AttributeProto::INT) value.ints = {attribute.i()};
  if (attribute.type() == pb::AttributeProto::FLOAT) value.floats = {static_cast<double>(attribute.f())};
  if (attribute.type() == pb::AttributeProto::STRING) value.words = {attribute.s()};
  return value;
}

template <class T>
void append(const Buffer& data, auto& to) {
  for (std::size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
    T one;
    std::memcpy(&one, data.data() + i, sizeof(T));
    to.push_back(one);
  }
}

std::optional<RuleValue> numbers_in(const pb::TensorProto& message) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : message.dims()) {
    if (dim < 0 || dim > kMostRead) return std::nullopt;
    elements *= dim;
    if (elements > kMostRead) return std::nullopt;
  }
  if (message.data_location() == pb::TensorProto::EXTERNAL) return std::nullopt;
  const auto tensor = to_tensor(message, "");
  if (!tensor) return std::nullopt;
  RuleValue value;
  value.rank = message.dims_size();
  switch (tensor->type) {
    case ElementType::kInt64:
      append<std::int64_t>(tensor->data, value.ints);
      return value;
    case ElementType::kInt32:
      append<std::int32_t>(tensor->data, value.ints);
      return value;
    case ElementType::kFloat32:
      append<float>(tensor->data, value.floats);
      return value;
    case ElementType::kFloat64:
      append<double>(tensor->data, value.floats);
      return value;
    default:
      return std::nullopt;
  }
}

std::string listed_values(const auto& values) {
  constexpr std::size_t kMostShown = 8;
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < kMostShown; ++i)
    text += (text.empty() ? "" : ", ") + fmt::format("{}", values[i]);
  return values.size() > kMostShown ? text + ", ..." : text;
}

}  // namespace

std::string shown(const RuleValue& value) {
  if (!value.words.empty()) return "'" + first_line(listed_values(value.words)) + "'";
  if (value.size() == 0) return "an empty list";
  return value.floats.empty() ? listed_values(value.ints) : listed_values(value.floats);
}

FactScope::FactScope(const pb::GraphProto& graph, const FactScope* outer) : outer_(outer) {
  for (const auto& value : graph.value_info()) types_[value.name()] = &value.type();
  for (const auto& value : graph.input()) types_[value.name()] = &value.type();
  for (const auto& tensor : graph.initializer()) constants_[tensor.name()] = &tensor;
  for (const auto& node : graph.node()) {
    if (!is_standard_op(node, "Constant") || node.output_size() != 1) continue;
    if (const auto* value = attribute_of(node, "value"); value && value->has_t())
      constants_[node.output(0)] = &value->t();
  }
}

const pb::TensorProto* FactScope::constant(const std::string& name) const {
  for (const FactScope* scope = this; scope; scope = scope->outer_) {
    if (const auto found = scope->constants_.find(name); found != scope->constants_.end()) return found->second;
    if (scope->types_.contains(name)) return nullptr;  // it hides what is outside
  }
  return nullptr;
}

std::optional<KnownExtents> FactScope::extents(const std::string& name) const {
  if (const pb::TensorProto* tensor = constant(name)) return KnownExtents(tensor->dims().begin(), tensor->dims().end());
  for (const FactScope* scope = this; scope; scope = scope->outer_) {
    const auto found = scope->types_.find(name);
    if (found == scope->types_.end()) continue;
    if (!found->second->has_tensor_type() || !found->second->tensor_type().has_shape()) return std::nullopt;
    KnownExtents extents;
    for (const auto& dim : found->second->tensor_type().shape().dim())
      extents.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : kUnknownExtent);
    return extents;
  }
  return std::nullopt;
}

std::optional<RuleValue> NodeFacts::attribute(std::string_view name) const {
  const auto* found = attribute_of(node, name);
  if (!found || !found->ref_attr_name().empty()) return std::nullopt;
  switch (found->type()) {
    case pb::AttributeProto::INT:
    case pb::AttributeProto::INTS:
    case pb::AttributeProto::FLOAT:
    case pb::AttributeProto::FLOATS:
    case pb::AttributeProto::STRING:
    case pb::AttributeProto::STRINGS:
      return value_of(*found);
    default:
      return std::nullopt;
  }
}

std::vector<std::int64_t> NodeFacts::ints(std::string_view name) const {
  const auto value = attribute(name);
  return value ? value->ints : std::vector<std::int64_t>{};
}

std::int64_t NodeFacts::integer(std::string_view name, std::int64_t fallback) const {
  const auto value = attribute(name);
  return value && value->ints.size() == 1 ? value->ints.front() : fallback;
}

bool NodeFacts::has_operand(std::size_t i) const {
  return i < static_cast<std::size_t>(node.input_size()) && !node.input(static_cast<int>(i)).empty();
}

std::optional<RuleValue> NodeFacts::operand(std::size_t i) const {
  if (!scope || !has_operand(i)) return std::nullopt;
  const pb::TensorProto* found = scope->constant(node.input(static_cast<int>(i)));
  return found ? numbers_in(*found) : std::nullopt;
}

std::optional<KnownExtents> NodeFacts::extents(std::size_t i) const {
  if (!knows_shapes || !scope || !has_operand(i)) return std::nullopt;
  return scope->extents(node.input(static_cast<int>(i)));
}

std::optional<std::int64_t> NodeFacts::rank(std::size_t i) const {
  const auto known = extents(i);
  return known ? std::optional(static_cast<std::int64_t>(known->size())) : std::nullopt;
}

std::int64_t NodeFacts::extent(std::size_t i, std::int64_t axis) const {
  const auto known = extents(i);
  if (!known) return kUnknownExtent;
  const auto rank = static_cast<std::int64_t>(known->size());
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? kUnknownExtent : (*known)[static_cast<std::size_t>(axis)];
}

}  // namespace collage
