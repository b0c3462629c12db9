// Borders of node sets and regions as graphs of their own.
#include "region/region.h"

#include <algorithm>

#include <fmt/format.h>

namespace collage {
namespace {

bool is_made_inside(const Uses& uses, ValueId id, const NodeSet& nodes) {
  const NodeId producer = uses.producer[id.index];
  return producer.valid() && nodes.contains(producer.index);
}

/// Drops every mention of a value but the first.
void keep_first_mentions(std::vector<ValueId>& ids) {
  std::vector<std::pair<ValueId, std::size_t>> places;
  for (std::size_t i = 0; i < ids.size(); ++i) places.emplace_back(ids[i], i);
  std::sort(places.begin(), places.end());
  const auto again = [](const auto& a, const auto& b) { return a.first == b.first; };
  places.erase(std::unique(places.begin(), places.end(), again), places.end());
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  ids.clear();
  for (const auto& [id, place] : places) ids.push_back(id);
}

}  // namespace

std::string to_string(const NodeSet& nodes) {
  std::string text;
  for (std::size_t first = nodes.next(); first < nodes.universe();) {
    std::size_t last = first;
    while (last + 1 < nodes.universe() && nodes.contains(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += fmt::format("{}{}", last == first + 1 ? "," : "..", last);
    first = nodes.next(last + 1);
  }
  return "{" + text + "}";
}

NodeSet node_set(const Graph& graph, const std::vector<std::size_t>& members) {
  NodeSet nodes(graph.nodes.size());
  for (const std::size_t n : members) nodes.insert(n);
  return nodes;
}

bool is_read_outside(const Uses& uses, ValueId id, const NodeSet& nodes) {
  const std::vector<NodeId>& consumers = uses.consumers[id.index];
  return std::any_of(consumers.begin(), consumers.end(), [&](NodeId reader) { return !nodes.contains(reader.index); });
}

Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes) {
  return make_region(graph, uses, std::move(nodes), {});
}

Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes, NodeSet repeated) {
  if (repeated.empty()) repeated = {};
  Region region{
      .nodes = std::move(nodes), .repeated = std::move(repeated), .inputs = {}, .constants = {}, .outputs = {}};
  const auto add_reads = [&](const std::vector<ValueId>& read) {
    for (const ValueId id : read)
      if (id.valid() && !is_made_inside(uses, id, region.nodes))
        (graph.value(id).constant ? region.constants : region.inputs).push_back(id);
  };
  // A repeated reader is not enough to keep a value inside: the step that covers that reader needs the value too.
  const NodeSet covered = region.covered();
  for (std::size_t n = region.nodes.next(); n < region.nodes.universe(); n = region.nodes.next(n + 1)) {
    const Node& node = graph.nodes[n];
    add_reads(node.inputs);
    add_reads(node.captures);
    if (region.repeats(n)) continue;
    for (const ValueId id : node.outputs)
      if (id.valid() && (uses.is_output[id.index] || is_read_outside(uses, id, covered))) region.outputs.push_back(id);
  }
  keep_first_mentions(region.inputs);
  keep_first_mentions(region.constants);
  return region;
}

Region whole_region(const Graph& graph, const Uses& uses) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) nodes.insert(n);
  return make_region(graph, uses, std::move(nodes));
}

namespace {

template <class May>
bool has_border(const Graph& graph, const Uses& uses, const Region& region, May may_cross) {
  const auto may = [&](ValueId id) { return may_cross(graph.value(id).type); };
  if (!std::ranges::all_of(region.inputs, may)) return false;
  const NodeSet covered = region.covered();
  return std::ranges::all_of(region.outputs,
                             [&](ValueId id) { return may(id) || !is_read_outside(uses, id, covered); });
}

}  // namespace

bool has_static_border(const Graph& graph, const Uses& uses, const Region& region) {
  return has_border(graph, uses, region, [](const ValueType& type) { return type.is_static(); });
}

bool has_passed_border(const Graph& graph, const Uses& uses, const Region& region) {
  return has_border(graph, uses, region,
                    [](const ValueType& type) { return type.is_static() || type.is_open() || type.is_held(); });
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
