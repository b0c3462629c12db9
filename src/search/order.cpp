#include "search/order.h"

#include <algorithm>
#include <numeric>

namespace collage {
namespace {

/// Nodes that must run before a node, each once.
std::vector<std::vector<std::uint32_t>> readers_of_nodes(const Graph& graph, const Uses& uses,
                                                         std::vector<std::uint32_t>& waits) {
  std::vector<std::vector<std::uint32_t>> readers(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs)
      if (id.valid())
        for (const NodeId reader : uses.consumers[id.index]) readers[n].push_back(reader.index);
    std::sort(readers[n].begin(), readers[n].end());
    readers[n].erase(std::unique(readers[n].begin(), readers[n].end()), readers[n].end());
    for (const std::uint32_t reader : readers[n]) ++waits[reader];
  }
  return readers;
}

class Scheduler {
 public:
  Scheduler(const Graph& graph, const Uses& uses)
      : graph_(graph), uses_(uses), waits_(graph.nodes.size(), 0), unread_(graph.values.size()) {
    readers_ = readers_of_nodes(graph, uses, waits_);
    reads_.resize(graph.nodes.size());
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      unread_[v] = uses.consumers[v].size();
      if (graph.values[v].constant) continue;
      for (const NodeId reader : uses.consumers[v]) reads_[reader.index].push_back(static_cast<std::uint32_t>(v));
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> ready;  // the latest made ready last
    for (std::uint32_t n = static_cast<std::uint32_t>(graph_.nodes.size()); n-- > 0;)
      if (waits_[n] == 0) ready.push_back(n);
    std::vector<std::uint32_t> order;
    while (!ready.empty()) {
      const std::size_t at = best_of(ready);
      const std::uint32_t node = ready[at];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
      order.push_back(node);
      for (const std::uint32_t value : reads_[node]) --unread_[value];
      for (auto reader = readers_[node].rbegin(); reader != readers_[node].rend(); ++reader)
        if (--waits_[*reader] == 0) ready.push_back(*reader);
    }
    return order;
  }

 private:
  std::size_t best_of(const std::vector<std::uint32_t>& ready) const {
    std::size_t best = ready.size() - 1;
    std::ptrdiff_t best_growth = growth(ready[best]);
    for (std::size_t i = ready.size() - 1; i-- > 0;)
      if (const std::ptrdiff_t g = growth(ready[i]); g < best_growth) {
        best = i;
        best_growth = g;
      }
    return best;
  }

  /// Values made and read later, less values read for the last time.
  std::ptrdiff_t growth(std::uint32_t node) const {
    std::ptrdiff_t made = 0;
    for (const ValueId id : graph_.nodes[node].outputs) made += id.valid() && !uses_.consumers[id.index].empty();
    for (const std::uint32_t value : reads_[node]) made -= unread_[value] == 1;
    return made;
  }

  const Graph& graph_;
  const Uses& uses_;
  std::vector<std::uint32_t> waits_;                 ///< by node: producers that have not run
  std::vector<std::size_t> unread_;                  ///< by value: readers that have not run
  std::vector<std::vector<std::uint32_t>> readers_;  ///< by node: nodes
  std::vector<std::vector<std::uint32_t>> reads_;    ///< by node: computed values and inputs, each once
};

}  // namespace

std::size_t live_sum(const Graph& graph, const Uses& uses, const std::vector<std::uint32_t>& order) {
  std::vector<std::size_t> position(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) position[order[p]] = p;
  std::size_t sum = 0;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].constant || uses.consumers[v].empty()) continue;
    std::size_t last = 0;
    for (const NodeId reader : uses.consumers[v]) last = std::max(last, position[reader.index]);
    sum += last - (uses.producer[v].valid() ? position[uses.producer[v].index] : 0);
  }
  return sum;
}

std::vector<std::uint32_t> search_order(const Graph& graph, const Uses& uses) {
  std::vector<std::uint32_t> own(graph.nodes.size());
  std::iota(own.begin(), own.end(), 0U);
  std::vector<std::uint32_t> scheduled = Scheduler(graph, uses).run();
  return live_sum(graph, uses, scheduled) < live_sum(graph, uses, own) ? scheduled : own;
}

}  // namespace collage
