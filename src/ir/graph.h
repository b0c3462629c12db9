// The graph that every stage after import works on: nodes in topological order, connected by values.
// Inputs, constants and outputs are values, not nodes. A graph is a plain value: a copy shares the bytes of the
// constants. The bodies of If, Loop and Scan are graphs too, held by attributes of their nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace collage {

struct NodeTag;
struct ValueTag;
using NodeId = Id<NodeTag>;
using ValueId = Id<ValueTag>;

struct Graph;

/// A body graph inside an attribute, shared because it never changes once the graph is built.
struct Body {
  std::shared_ptr<const Graph> graph;
  bool operator==(const Body& other) const;
};

using AttributeValue =
    std::variant<float, std::int64_t, std::string, Tensor, Body, std::vector<float>, std::vector<std::int64_t>,
                 std::vector<std::string>, std::vector<Tensor>, std::vector<Body>>;

struct Attribute {
  std::string name;
  AttributeValue value;
  bool operator==(const Attribute&) const = default;
};

/// One use of an operator.
struct Node {
  std::string name;    ///< unique in its graph
  std::string domain;  ///< "" is ai.onnx
  std::string op_type;
  std::vector<ValueId> inputs;        ///< an invalid id stands for an omitted optional input
  std::vector<ValueId> outputs;       ///< an invalid id stands for an omitted optional output
  std::vector<ValueId> captures;      ///< values of this graph that bodies of this node read by name
  std::vector<Attribute> attributes;  ///< sorted by name

  bool operator==(const Node&) const = default;
};

/// One tensor edge. At most one of `constant`, a producing node, or membership in Graph::inputs holds.
struct Value {
  std::string name;  ///< unique in its graph
  ValueType type;
  std::optional<Tensor> constant;
  bool operator==(const Value&) const = default;
};

struct Graph {
  std::string name;
  std::map<std::string, std::int64_t> opsets;  ///< domain -> version; "" is ai.onnx
  std::vector<Value> values;
  std::vector<Node> nodes;       ///< topological order
  std::vector<ValueId> inputs;   ///< in the model's order; never constants
  std::vector<ValueId> outputs;  ///< in the model's order; may repeat
  std::vector<ValueId>
      captures;  ///< body graphs only: values that represent values of the enclosing graph of equal name

  [[nodiscard]] const Value& value(ValueId id) const { return values[id.index]; }
  [[nodiscard]] Value& value(ValueId id) { return values[id.index]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes[id.index]; }
  [[nodiscard]] Node& node(NodeId id) { return nodes[id.index]; }
  bool operator==(const Graph&) const = default;
};

/// Adds a value and returns its id. The name must be new (verify() checks that, not this call); an empty name becomes a
/// fresh "v<index>".
ValueId add_value(Graph& graph, std::string name, ValueType type, std::optional<Tensor> constant = std::nullopt);
ValueId add_constant(Graph& graph, std::string name, Tensor tensor);
/// Appends a node. Attributes are sorted here; an empty name becomes a fresh "<op_type>_<index>".
NodeId add_node(Graph& graph, Node node);

/// The producer and readers of each value; recomputed after changes, never stored in the graph.
struct Uses {
  std::vector<NodeId> producer;                ///< by value; invalid for inputs, constants and captures
  std::vector<std::vector<NodeId>> consumers;  ///< by value, ascending, once per node, captures included
  std::vector<bool> is_output;                 ///< by value: a graph output
};
[[nodiscard]] Uses uses_of(const Graph& graph);

/// The attribute called `name` when it is there and holds a T.
template <class T>
[[nodiscard]] const T* find_attribute(const Node& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes)
    if (attribute.name == name) return std::get_if<T>(&attribute.value);
  return nullptr;
}
template <class T>
[[nodiscard]] T attribute_or(const Node& node, std::string_view name, T fallback) {
  const T* found = find_attribute<T>(node, name);
  return found ? *found : fallback;
}
/// The node's i-th input, invalid when omitted or past the end.
[[nodiscard]] inline ValueId input_of(const Node& node, std::size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : ValueId{};
}
/// The constant behind a value; null when it is omitted or computed.
[[nodiscard]] inline const Tensor* constant_of(const Graph& graph, ValueId id) {
  return id.valid() && graph.value(id).constant ? &*graph.value(id).constant : nullptr;
}
/// True for an operator of ai.onnx with this name.
[[nodiscard]] inline bool is_op(const Node& node, std::string_view op_type) {
  return node.domain.empty() && node.op_type == op_type;
}

/// The bodies held by a node's attributes, in attribute order.
[[nodiscard]] std::vector<const Graph*> bodies_of(const Node& node);

/// Sorts the nodes topologically (stable), drops values that nothing refers to, and renumbers ids: inputs, captures,
/// constants by first use, outputs of nodes in order. Does the same in bodies. Idempotent.
/// Error ir/cycle when the graph has a cycle.
[[nodiscard]] Result<Graph> normalised(const Graph& graph);

/// Checks every invariant stated in this header. Error codes ir/*; where = node or value name.
[[nodiscard]] Result<void> verify(const Graph& graph);

/// Stable text form (grammar in text_print.cpp); constants of at most 16 elements print their contents, larger ones a
/// hash.
[[nodiscard]] std::string to_text(const Graph& graph);
/// Reads what to_text writes. Constants that it shows as a hash are looked up in `constants`; error ir/parse when one
/// is missing there.
[[nodiscard]] Result<Graph> parse_graph(std::string_view text, const std::map<std::string, Tensor>& constants = {});

}  // namespace collage
