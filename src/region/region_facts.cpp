// Taps and depth of regions.
#include <algorithm>

#include "region/region.h"

namespace collage {
namespace {

/// Calls `visit` with every value that the node reads, by operand or through a body.
template <class Visit>
void for_each_read(const Node& node, Visit&& visit) {
  for (const auto* ids : {&node.inputs, &node.captures})
    for (const ValueId id : *ids)
      if (id.valid()) visit(id);
}

}  // namespace

std::vector<ValueId> taps_of(const Uses& uses, const Region& region) {
  std::vector<ValueId> taps;
  for (const ValueId id : region.outputs) {
    const auto& readers = uses.consumers[id.index];
    if (std::any_of(readers.begin(), readers.end(), [&](NodeId n) { return region.nodes.contains(n.index); }))
      taps.push_back(id);
  }
  return taps;
}

std::size_t depth_of(const Graph& graph, const Uses& uses, const NodeSet& nodes) {
  const std::vector<std::size_t> members = nodes.members();
  std::vector<std::size_t> depths(members.size(), 1);
  std::size_t most = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    for_each_read(graph.nodes[members[m]], [&](ValueId id) {
      const NodeId producer = uses.producer[id.index];
      if (!producer.valid() || !nodes.contains(producer.index)) return;
      const auto place = std::lower_bound(members.begin(), members.end(), std::size_t{producer.index});
      depths[m] = std::max(depths[m], depths[static_cast<std::size_t>(place - members.begin())] + 1);
    });
    most = std::max(most, depths[m]);
  }
  return most;
}

}  // namespace collage
