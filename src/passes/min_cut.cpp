// Maximum flow by blocking flows; the last breadth-first search leaves the source's side.
#include "passes/min_cut.h"

#include <algorithm>

namespace collage {

std::size_t MinCut::add_node() {
  outgoing_.emplace_back();
  return outgoing_.size() - 1;
}

void MinCut::add_edge(std::size_t from, std::size_t to, std::int64_t weight) {
  if (from == to || weight == 0) return;
  outgoing_[from].push_back(edges_.size());
  edges_.push_back(Edge{.to = to, .left = weight});
  outgoing_[to].push_back(edges_.size());
  edges_.push_back(Edge{.to = from, .left = 0});
}

bool MinCut::find_levels() {
  level_.assign(outgoing_.size(), -1);
  level_[kSource] = 0;
  std::vector<std::size_t> queue = {kSource};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const std::size_t e : outgoing_[queue[head]]) {
      if (edges_[e].left <= 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[queue[head]] + 1;
      queue.push_back(edges_[e].to);
    }
  }
  return level_[kSink] >= 0;
}

std::int64_t MinCut::push(std::size_t node, std::int64_t limit) {
  if (node == kSink) return limit;
  for (std::size_t& i = next_[node]; i < outgoing_[node].size(); ++i) {
    const std::size_t e = outgoing_[node][i];
    if (edges_[e].left <= 0 || level_[edges_[e].to] != level_[node] + 1) continue;
    const std::int64_t pushed = push(edges_[e].to, std::min(limit, edges_[e].left));
    if (pushed == 0) continue;
    edges_[e].left -= pushed;
    edges_[e ^ 1].left += pushed;
    return pushed;
  }
  return 0;
}

std::int64_t MinCut::solve() {
  std::int64_t total = 0;
  while (find_levels()) {
    next_.assign(outgoing_.size(), 0);
    while (const std::int64_t pushed = push(kSource, kInfinite)) total += pushed;
  }
  return total;
}

}  // namespace collage
