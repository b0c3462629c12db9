// Checks that a graph keeps what ir/graph.h promises. Run after import and after every pass.
// In: any graph. Out: nothing, or the first broken promise with the node or value that breaks it.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>

#include "ir/graph.h"

namespace collage {
namespace {

std::unexpected<Error> broken(std::string code, std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBug, std::move(code), std::move(where), std::move(saw), std::move(allowed));
}

Result<void> check_tensor(const std::string& where, const Tensor& tensor) {
  if (std::any_of(tensor.extents.begin(), tensor.extents.end(), [](std::int64_t extent) { return extent < 0; }))
    return broken("ir/bad-tensor", where, "a negative extent", "extents of at least 0");
  if (tensor.type == ElementType::kString) {
    if (tensor.strings.size() != static_cast<std::size_t>(tensor.size()))
      return broken("ir/bad-tensor", where, std::to_string(tensor.strings.size()) + " strings",
                    std::to_string(tensor.size()) + " strings");
    return {};
  }
  if (bits_of(tensor.type) == 0) return broken("ir/bad-tensor", where, "no element type", "an element type");
  const std::size_t bytes = byte_count(tensor.type, tensor.extents);
  if (tensor.data.size() != bytes)
    return broken("ir/bad-tensor", where, std::to_string(tensor.data.size()) + " bytes",
                  std::to_string(bytes) + " bytes for " + to_string(tensor.value_type()));
  return {};
}

/// The walk over one graph, in execution order; `defined_` knows what has been made so far.
class Verifier {
 public:
  Verifier(const Graph& graph, bool is_body) : graph_(graph), is_body_(is_body), defined_(graph.values.size(), false) {}

  Result<void> run() {
    COLLAGE_TRY_VOID(check_values());
    COLLAGE_TRY_VOID(define_sources());
    for (const Node& node : graph_.nodes) COLLAGE_TRY_VOID(check_node(node));
    for (const ValueId id : graph_.outputs) {
      COLLAGE_TRY_VOID(check_range(id, "output of graph " + graph_.name));
      if (!defined_[id.index])
        return broken("ir/undefined-value", graph_.value(id).name, "a graph output that nothing makes",
                      "an input, a constant or a node's output");
    }
    return {};
  }

 private:
  Result<void> check_values() {
    std::unordered_set<std::string_view> names;
    for (const Value& value : graph_.values) {
      if (value.name.empty()) return broken("ir/no-name", "value", "an empty name", "a unique name");
      if (!names.insert(value.name).second)
        return broken("ir/repeated-name", value.name, "two values of this name", "unique value names");
      if (!value.constant) continue;
      COLLAGE_TRY_VOID(check_tensor(value.name, *value.constant));
      if (value.type != value.constant->value_type())
        return broken("ir/bad-tensor", value.name, "a constant declared as " + to_string(value.type),
                      to_string(value.constant->value_type()));
    }
    return {};
  }

  Result<void> define_sources() {
    for (std::size_t v = 0; v < graph_.values.size(); ++v)
      if (graph_.values[v].constant) defined_[v] = true;
    for (const ValueId id : graph_.inputs) COLLAGE_TRY_VOID(define(id, "input of graph " + graph_.name));
    if (!is_body_ && !graph_.captures.empty())
      return broken("ir/bad-capture", graph_.name, "captures in a graph that is no body", "no captures");
    for (const ValueId id : graph_.captures) COLLAGE_TRY_VOID(define(id, "capture of graph " + graph_.name));
    return {};
  }

  Result<void> check_node(const Node& node) {
    if (node.name.empty()) return broken("ir/no-name", node.op_type, "a node without a name", "a unique name");
    if (!node_names_.insert(node.name).second)
      return broken("ir/repeated-name", node.name, "two nodes of this name", "unique node names");
    if (node.op_type.empty()) return broken("ir/no-operator", node.name, "no operator", "an operator");
    COLLAGE_TRY_VOID(check_reads(node, node.inputs, true));
    COLLAGE_TRY_VOID(check_reads(node, node.captures, false));
    COLLAGE_TRY_VOID(check_attributes(node));
    COLLAGE_TRY_VOID(check_captures(node));
    for (const Graph* body : bodies_of(node)) COLLAGE_TRY_VOID(Verifier(*body, true).run());
    for (const ValueId id : node.outputs)
      if (id.valid()) COLLAGE_TRY_VOID(define(id, node.name));
    return {};
  }

  Result<void> check_reads(const Node& node, const std::vector<ValueId>& read, bool may_omit) {
    for (const ValueId id : read) {
      if (!id.valid() && may_omit) continue;
      COLLAGE_TRY_VOID(check_range(id, node.name));
      if (!defined_[id.index])
        return broken("ir/undefined-value", node.name, "a read of '" + graph_.value(id).name + "' before it is made",
                      "inputs, constants and outputs of earlier nodes");
    }
    return {};
  }

  Result<void> check_attributes(const Node& node) {
    for (std::size_t i = 1; i < node.attributes.size(); ++i)
      if (node.attributes[i - 1].name >= node.attributes[i].name)
        return broken("ir/unsorted-attributes", node.name, "attribute '" + node.attributes[i].name + "' out of order",
                      "attributes sorted by unique name");
    for (const Attribute& attribute : node.attributes) {
      const std::string where = node.name + "." + attribute.name;
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) COLLAGE_TRY_VOID(check_tensor(where, *tensor));
      if (const auto* tensors = std::get_if<std::vector<Tensor>>(&attribute.value))
        for (const Tensor& tensor : *tensors) COLLAGE_TRY_VOID(check_tensor(where, tensor));
      if (const auto* body = std::get_if<Body>(&attribute.value); body != nullptr && !body->graph)
        return broken("ir/no-body", where, "an empty body", "a graph");
      if (const auto* bodies = std::get_if<std::vector<Body>>(&attribute.value))
        for (const Body& body : *bodies)
          if (!body.graph) return broken("ir/no-body", where, "an empty body", "a graph");
    }
    return {};
  }

  /// What the bodies read by name is exactly what the node says they read.
  Result<void> check_captures(const Node& node) {
    std::set<std::string> declared;
    for (const ValueId id : node.captures)
      if (!declared.insert(graph_.value(id).name).second)
        return broken("ir/bad-capture", node.name, "'" + graph_.value(id).name + "' captured twice", "each value once");
    std::set<std::string> needed;
    for (const Graph* body : bodies_of(node))
      for (const ValueId id : body->captures)
        if (id.index < body->values.size()) needed.insert(body->value(id).name);
    for (const std::string& name : needed)
      if (!declared.contains(name))
        return broken("ir/bad-capture", node.name, "a body that reads '" + name + "'",
                      "names among the node's captures");
    for (const std::string& name : declared)
      if (!needed.contains(name))
        return broken("ir/bad-capture", node.name, "capture '" + name + "' that no body reads",
                      "captures of the bodies");
    return {};
  }

  Result<void> check_range(ValueId id, const std::string& where) {
    if (id.index < graph_.values.size()) return {};
    return broken("ir/bad-id", where, id.valid() ? "value id " + std::to_string(id.index) : "no value",
                  "ids below " + std::to_string(graph_.values.size()));
  }

  Result<void> define(ValueId id, const std::string& maker) {
    COLLAGE_TRY_VOID(check_range(id, maker));
    if (graph_.value(id).constant)
      return broken("ir/constant-made", graph_.value(id).name, "a constant made by " + maker, "no maker");
    if (defined_[id.index])
      return broken("ir/made-twice", graph_.value(id).name, "a second maker, " + maker, "one maker for each value");
    defined_[id.index] = true;
    return {};
  }

  const Graph& graph_;
  bool is_body_;
  std::vector<bool> defined_;
  std::unordered_set<std::string_view> node_names_;
};

}  // namespace

Result<void> verify(const Graph& graph) { return Verifier(graph, false).run(); }

}  // namespace collage
