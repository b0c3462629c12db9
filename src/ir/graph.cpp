// Building graphs; the producer and readers of each value.
#include "ir/graph.h"

#include <algorithm>

namespace collage {
namespace {

/// `wanted`, or the first of wanted_1, wanted_2, ... that nothing in `items` is called.
template <class Items>
std::string fresh_name(const Items& items, std::string wanted) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  };
  if (!taken(wanted)) return wanted;
  for (std::size_t i = 1;; ++i)
    if (std::string name = wanted + "_" + std::to_string(i); !taken(name)) return name;
}

void add_consumers(Uses& uses, const std::vector<ValueId>& read, NodeId reader) {
  for (const ValueId id : read) {
    if (!id.valid()) continue;
    std::vector<NodeId>& consumers = uses.consumers[id.index];
    // Nodes are visited in ascending order, so a repeat can only be the last entry.
    if (consumers.empty() || consumers.back() != reader) consumers.push_back(reader);
  }
}

}  // namespace

bool Body::operator==(const Body& other) const {
  if (!graph || !other.graph) return graph == other.graph;
  return graph == other.graph || *graph == *other.graph;
}

ValueId add_value(Graph& graph, std::string name, ValueType type, std::optional<Tensor> constant) {
  const ValueId id{static_cast<std::uint32_t>(graph.values.size())};
  if (name.empty()) name = fresh_name(graph.values, "v" + std::to_string(id.index));
  graph.values.push_back(Value{.name = std::move(name), .type = std::move(type), .constant = std::move(constant)});
  return id;
}

ValueId add_constant(Graph& graph, std::string name, Tensor tensor) {
  ValueType type = tensor.value_type();
  return add_value(graph, std::move(name), std::move(type), std::move(tensor));
}

NodeId add_node(Graph& graph, Node node) {
  const NodeId id{static_cast<std::uint32_t>(graph.nodes.size())};
  if (node.name.empty()) node.name = fresh_name(graph.nodes, node.op_type + "_" + std::to_string(id.index));
  std::stable_sort(node.attributes.begin(), node.attributes.end(),
                   [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
  graph.nodes.push_back(std::move(node));
  return id;
}

Uses uses_of(const Graph& graph) {
  Uses uses;
  uses.producer.resize(graph.values.size());
  uses.consumers.resize(graph.values.size());
  uses.is_output.resize(graph.values.size(), false);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    add_consumers(uses, node.inputs, NodeId{n});
    add_consumers(uses, node.captures, NodeId{n});
    for (const ValueId id : node.outputs)
      if (id.valid()) uses.producer[id.index] = NodeId{n};
  }
  for (const ValueId id : graph.outputs) uses.is_output[id.index] = true;
  return uses;
}

std::vector<const Graph*> bodies_of(const Node& node) {
  std::vector<const Graph*> bodies;
  const auto add = [&](const Body& body) {
    if (body.graph) bodies.push_back(body.graph.get());
  };
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<Body>(&attribute.value)) add(*one);
    if (const auto* many = std::get_if<std::vector<Body>>(&attribute.value))
      std::for_each(many->begin(), many->end(), add);
  }
  return bodies;
}

}  // namespace collage
