// Borders of node sets, reachability, and regions as graphs of their own.
// In: a verified graph and its uses. Out: regions; all functions are pure and deterministic.
#include "region/region.h"

#include <algorithm>

namespace collage {
namespace {

/// Appends each id once, in the order of first mention.
class FirstUse {
 public:
  explicit FirstUse(std::size_t values) : seen_(values) {}

  void add(ValueId id, std::vector<ValueId>& list) {
    if (seen_.contains(id.index)) return;
    seen_.insert(id.index);
    list.push_back(id);
  }

 private:
  BitSet seen_;
};

bool is_made_inside(const Uses& uses, ValueId id, const NodeSet& nodes) {
  const NodeId producer = uses.producer[id.index];
  return producer.valid() && nodes.contains(producer.index);
}

bool is_read_outside(const Uses& uses, ValueId id, const NodeSet& nodes) {
  const std::vector<NodeId>& consumers = uses.consumers[id.index];
  return std::any_of(consumers.begin(), consumers.end(), [&](NodeId reader) { return !nodes.contains(reader.index); });
}

}  // namespace

NodeSet Region::covered() const { return repeated.universe() == 0 ? nodes : nodes - repeated; }

Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes) {
  NodeSet none(nodes.universe());
  return make_region(graph, uses, std::move(nodes), std::move(none));
}

Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes, NodeSet repeated) {
  Region region{
      .nodes = std::move(nodes), .repeated = std::move(repeated), .inputs = {}, .constants = {}, .outputs = {}};
  FirstUse first_use(graph.values.size());
  const auto add_reads = [&](const std::vector<ValueId>& read) {
    for (const ValueId id : read) {
      if (!id.valid() || is_made_inside(uses, id, region.nodes)) continue;
      first_use.add(id, graph.value(id).constant ? region.constants : region.inputs);
    }
  };
  for (std::size_t n = region.nodes.next(); n < region.nodes.universe(); n = region.nodes.next(n + 1)) {
    const Node& node = graph.nodes[n];
    add_reads(node.inputs);
    add_reads(node.captures);
    if (region.repeated.contains(n)) continue;
    for (const ValueId id : node.outputs)
      if (id.valid() && (uses.is_output[id.index] || is_read_outside(uses, id, region.nodes)))
        region.outputs.push_back(id);
  }
  return region;
}

Region whole_region(const Graph& graph, const Uses& uses) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) nodes.insert(n);
  return make_region(graph, uses, std::move(nodes));
}

Reachability::Reachability(const Graph& graph, const Uses& uses)
    : descendants_(graph.nodes.size(), NodeSet(graph.nodes.size())),
      ancestors_(graph.nodes.size(), NodeSet(graph.nodes.size())) {
  // Rows of readers are complete before rows of makers, since nodes lie in topological order.
  for (std::size_t n = graph.nodes.size(); n-- > 0;)
    for (const ValueId id : graph.nodes[n].outputs) {
      if (!id.valid()) continue;
      for (const NodeId reader : uses.consumers[id.index]) {
        descendants_[n].insert(reader.index);
        descendants_[n] |= descendants_[reader.index];
      }
    }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].outputs) {
      if (!id.valid()) continue;
      for (const NodeId reader : uses.consumers[id.index]) {
        ancestors_[reader.index].insert(n);
        ancestors_[reader.index] |= ancestors_[n];
      }
    }
}

bool Reachability::is_convex(const NodeSet& nodes) const {
  NodeSet after(nodes.universe());
  NodeSet before(nodes.universe());
  for (std::size_t n = nodes.next(); n < nodes.universe(); n = nodes.next(n + 1)) {
    after |= descendants_[n];
    before |= ancestors_[n];
  }
  after &= before;
  return after.is_subset_of(nodes);
}

bool has_static_border(const Graph& graph, const Uses& uses, const Region& region) {
  const auto is_static = [&](ValueId id) { return graph.value(id).type.is_static(); };
  if (!std::all_of(region.inputs.begin(), region.inputs.end(), is_static)) return false;
  return std::all_of(region.outputs.begin(), region.outputs.end(),
                     [&](ValueId id) { return is_static(id) || !is_read_outside(uses, id, region.nodes); });
}

Graph extract(const Graph& graph, const Region& region) {
  Graph part{.name = graph.name,
             .opsets = graph.opsets,
             .values = {},
             .nodes = {},
             .inputs = {},
             .outputs = {},
             .captures = {}};
  std::vector<ValueId> ids(graph.values.size());
  const auto move_id = [&](ValueId old) {
    if (!old.valid()) return old;
    ValueId& id = ids[old.index];
    if (!id.valid()) {
      id = ValueId{static_cast<std::uint32_t>(part.values.size())};
      part.values.push_back(graph.value(old));
    }
    return id;
  };
  const auto move_ids = [&](std::vector<ValueId>& list) {
    std::transform(list.begin(), list.end(), list.begin(), move_id);
  };

  part.inputs = region.inputs;
  move_ids(part.inputs);
  for (const ValueId id : region.constants) move_id(id);
  for (const std::size_t n : region.nodes.members()) {
    Node node = graph.nodes[n];
    move_ids(node.inputs);
    move_ids(node.outputs);
    move_ids(node.captures);
    part.nodes.push_back(std::move(node));
  }
  part.outputs = region.outputs;
  move_ids(part.outputs);
  return part;
}

}  // namespace collage
