// Renumbers a graph canonically, so that equal graphs compare equal however they were built.
// In:  a graph whose ids are in range.
// Out: the same graph; nodes in the stable topological order, values in the order in which the text form names them.
#include <functional>
#include <queue>
#include <string>

#include "ir/graph.h"

namespace collage {
namespace {

/// Node indices in topological order, the smallest ready index first; shorter than the graph when there is a cycle.
std::vector<std::uint32_t> topological_order(const Graph& graph) {
  const Uses uses = uses_of(graph);
  std::vector<std::size_t> waiting(graph.nodes.size(), 0);
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (uses.producer[v].valid())
      for (const NodeId reader : uses.consumers[v]) ++waiting[reader.index];

  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (waiting[n] == 0) ready.push(n);
  std::vector<std::uint32_t> order;
  order.reserve(graph.nodes.size());
  while (!ready.empty()) {
    const std::uint32_t n = ready.top();
    ready.pop();
    order.push_back(n);
    for (const ValueId id : graph.nodes[n].outputs) {
      // A value that two nodes claim to make counts for one of them only; verify() reports it.
      if (!id.valid() || uses.producer[id.index] != NodeId{n}) continue;
      for (const NodeId reader : uses.consumers[id.index])
        if (--waiting[reader.index] == 0) ready.push(reader.index);
    }
  }
  return order;
}

/// Hands out new ids in the order of first mention.
class Renumbering {
 public:
  Renumbering(const Graph& from, Graph& to) : from_(from), to_(to), ids_(from.values.size()) {}

  ValueId mention(ValueId old) {
    if (!old.valid()) return old;
    ValueId& id = ids_[old.index];
    if (!id.valid()) {
      id = ValueId{static_cast<std::uint32_t>(to_.values.size())};
      to_.values.push_back(from_.value(old));
    }
    return id;
  }

  void mention_constants(const std::vector<ValueId>& old) {
    for (const ValueId id : old)
      if (id.valid() && from_.value(id).constant) mention(id);
  }

  std::vector<ValueId> renumbered(const std::vector<ValueId>& old) {
    std::vector<ValueId> result;
    result.reserve(old.size());
    for (const ValueId id : old) result.push_back(mention(id));
    return result;
  }

 private:
  const Graph& from_;
  Graph& to_;
  std::vector<ValueId> ids_;
};

Result<void> normalise_body(Body& body) {
  if (!body.graph) return {};
  COLLAGE_TRY(Graph graph, normalised(*body.graph));
  if (graph != *body.graph) body.graph = std::make_shared<const Graph>(std::move(graph));
  return {};
}

Result<void> normalise_bodies(Node& node) {
  for (Attribute& attribute : node.attributes) {
    if (auto* one = std::get_if<Body>(&attribute.value)) COLLAGE_TRY_VOID(normalise_body(*one));
    if (auto* many = std::get_if<std::vector<Body>>(&attribute.value))
      for (Body& body : *many) COLLAGE_TRY_VOID(normalise_body(body));
  }
  return {};
}

/// The name of a node that is not in `order` although everything could have been: it lies on or behind a cycle.
std::string first_left_out(const Graph& graph, const std::vector<std::uint32_t>& order) {
  std::vector<bool> placed(graph.nodes.size(), false);
  for (const std::uint32_t n : order) placed[n] = true;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (!placed[n]) return graph.nodes[n].name;
  return {};
}

}  // namespace

Result<Graph> normalised(const Graph& graph) {
  const std::vector<std::uint32_t> order = topological_order(graph);
  if (order.size() != graph.nodes.size())
    return fail(ExitCode::kBadInput, "ir/cycle", first_left_out(graph, order), "a node that waits for its own result",
                "an acyclic graph");

  Graph result{.name = graph.name,
               .opsets = graph.opsets,
               .values = {},
               .nodes = {},
               .inputs = {},
               .outputs = {},
               .captures = {}};
  Renumbering renumbering(graph, result);
  result.inputs = renumbering.renumbered(graph.inputs);
  result.captures = renumbering.renumbered(graph.captures);
  for (const std::uint32_t n : order) {
    renumbering.mention_constants(graph.nodes[n].inputs);
    renumbering.mention_constants(graph.nodes[n].captures);
  }
  renumbering.mention_constants(graph.outputs);
  // All outputs first: a read before the value is made (which verify() reports) must not disturb the numbering.
  for (const std::uint32_t n : order)
    for (const ValueId id : graph.nodes[n].outputs) renumbering.mention(id);

  result.nodes.reserve(order.size());
  for (const std::uint32_t n : order) {
    Node node = graph.nodes[n];
    node.inputs = renumbering.renumbered(node.inputs);
    node.outputs = renumbering.renumbered(node.outputs);
    node.captures = renumbering.renumbered(node.captures);
    COLLAGE_TRY_VOID(normalise_bodies(node));
    result.nodes.push_back(std::move(node));
  }
  result.outputs = renumbering.renumbered(graph.outputs);
  return result;
}

}  // namespace collage
