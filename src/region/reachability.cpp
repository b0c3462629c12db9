// Transitive closure of the graph as bit rows.
#include <algorithm>

#include "region/region.h"

namespace collage {
namespace {

/// The words of a set that hold its members: [first, last).
struct WordRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

WordRange words_in_use(const NodeSet& nodes) {
  const auto& words = nodes.words();
  const auto used = [](std::uint64_t word) { return word != 0; };
  const auto first = std::find_if(words.begin(), words.end(), used);
  const auto last = std::find_if(words.rbegin(), std::make_reverse_iterator(first), used).base();
  return {.first = static_cast<std::size_t>(first - words.begin()),
          .last = static_cast<std::size_t>(last - words.begin())};
}

}  // namespace

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
  // Whatever lies on a path between members lies between them in the order, so these words are all that matters.
  const WordRange range = words_in_use(nodes);
  std::vector<std::uint64_t> after(range.last - range.first);
  std::vector<std::uint64_t> before(after.size());
  for (std::size_t n = nodes.next(); n < nodes.universe(); n = nodes.next(n + 1))
    for (std::size_t w = 0; w < after.size(); ++w) {
      after[w] |= descendants_[n].words()[range.first + w];
      before[w] |= ancestors_[n].words()[range.first + w];
    }
  for (std::size_t w = 0; w < after.size(); ++w)
    if (after[w] & before[w] & ~nodes.words()[range.first + w]) return false;
  return true;
}

}  // namespace collage
