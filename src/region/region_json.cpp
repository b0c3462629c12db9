#include "region/region_json.h"

#include <cmath>

namespace collage {
namespace {

Json number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

/// Nothing for types that have no numbers in JSON, such as complex ones.
std::optional<Json> elements_of(const Tensor& tensor) {
  if (tensor.type == ElementType::kString) return tensor.strings;
  if (const auto integers = integers_of(tensor)) return *integers;
  if (const auto floats = floats_of(tensor)) return numbers(*floats);
  return std::nullopt;
}

Json shape_json(const ValueType& type) {
  if (!type.shape) return nullptr;
  Json shape = Json::array();
  for (const Dim& dim : *type.shape) {
    if (dim.is_static())
      shape.push_back(dim.extent);
    else
      shape.push_back(dim.symbol.empty() ? Json(nullptr) : Json(dim.symbol));
  }
  return shape;
}

Json tensor_json(const Tensor& tensor) {
  Json json = {{"type", name_of(tensor.type)}, {"shape", tensor.extents}};
  if (auto elements = elements_of(tensor)) json["values"] = *std::move(elements);
  return json;
}

Json attribute_json(float value) { return number(value); }
Json attribute_json(std::int64_t value) { return value; }
Json attribute_json(const std::string& value) { return value; }
Json attribute_json(const Tensor& value) { return {{"tensor", tensor_json(value)}}; }
Json attribute_json(const Body&) { return {{"body", nullptr}}; }
template <class Value>
Json attribute_json(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(attribute_json(value));
  return list;
}

Json value_json(const Graph& graph, ValueId id, const std::vector<bool>& structural) {
  const Value& value = graph.value(id);
  Json json = {{"name", value.name}, {"type", name_of(value.type.element)}, {"shape", shape_json(value.type)}};
  if (!structural[id.index]) return json;
  if (auto elements = elements_of(*value.constant)) json["values"] = *std::move(elements);
  return json;
}

Json values_json(const Graph& graph, const std::vector<ValueId>& ids, const std::vector<bool>& structural) {
  Json list = Json::array();
  for (const ValueId id : ids) list.push_back(value_json(graph, id, structural));
  return list;
}

Json names_json(const Graph& graph, const std::vector<ValueId>& ids) {
  Json list = Json::array();
  for (const ValueId id : ids) list.push_back(id.valid() ? Json(graph.value(id).name) : Json(nullptr));
  return list;
}

Json node_json(const Graph& graph, const Node& node) {
  Json attributes = Json::object();
  for (const Attribute& attribute : node.attributes)
    attributes[attribute.name] = std::visit([](const auto& value) { return attribute_json(value); }, attribute.value);
  return {{"name", node.name},
          {"domain", node.domain},
          {"op_type", node.op_type},
          {"inputs", names_json(graph, node.inputs)},
          {"outputs", names_json(graph, node.outputs)},
          {"attributes", std::move(attributes)}};
}

}  // namespace

Json region_json(const Graph& graph, const Region& region) {
  const std::vector<bool> structural = structural_constants(graph, region.nodes);
  Json nodes = Json::array();
  for (const std::size_t n : region.nodes.members()) nodes.push_back(node_json(graph, graph.nodes[n]));
  return {{"schema", "collage.region/1"},
          {"inputs", values_json(graph, region.inputs, structural)},
          {"constants", values_json(graph, region.constants, structural)},
          {"outputs", values_json(graph, region.outputs, structural)},
          {"nodes", std::move(nodes)}};
}

}  // namespace collage
