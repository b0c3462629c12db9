#include "search/lazy.h"

#include <algorithm>

namespace collage {

std::vector<std::uint32_t> unmeasured_of(const Cover& cover, std::span<const SearchCandidate> candidates) {
  std::vector<std::uint32_t> list;
  for (const CoverStep& step : cover.steps) {
    if (step.region.nodes.universe() == 0 || !std::holds_alternative<Estimated>(step.cost)) continue;
    for (std::uint32_t c = 0; c < candidates.size(); ++c)
      if (candidates[c].backend == step.backend && candidates[c].variant == step.variant &&
          *candidates[c].region == step.region)
        list.push_back(c);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

Result<LazyResult> choose_lazily(const Graph& graph, const Uses& uses, std::vector<SearchCandidate>& candidates,
                                 const BoundaryTable& boundaries, const MeasureCandidates& measure,
                                 const SearchOptions& options) {
  LazyResult result;
  for (;;) {
    ++result.rounds;
    COLLAGE_TRY(result.search, choose_cover(graph, uses, candidates, boundaries, options));
    const std::vector<std::uint32_t> open = unmeasured_of(result.search.cover, candidates);
    if (open.empty()) return result;
    COLLAGE_TRY(const std::vector<Cost> costs, measure(open));
    COLLAGE_CHECK(costs.size() == open.size(), "one cost for every candidate asked for");
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (std::holds_alternative<Unknown>(costs[i])) {
        result.complete = false;
        return result;
      }
      candidates[open[i]].cost = costs[i];
      ++result.measured;
    }
  }
}

}  // namespace collage
