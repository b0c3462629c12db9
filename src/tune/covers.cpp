#include "tune/covers.h"

#include <algorithm>
#include <set>

namespace collage {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Cost corrected(const CoverRequest& request, std::size_t candidate) {
  const Cost& cost = request.costs[candidate];
  const auto factor = request.corrections.find(request.pool->candidates[candidate].backend);
  const auto* measured = std::get_if<Measured>(&cost);
  if (!measured || factor == request.corrections.end()) return cost;
  Measured scaled = *measured;
  for (std::int64_t* ns : {&scaled.median_ns, &scaled.low_ns, &scaled.high_ns})
    *ns = static_cast<std::int64_t>(static_cast<double>(*ns) * factor->second);
  return scaled;
}

/// Nodes that no usable candidate of the allowed backends covers.
NodeSet left_over(const CoverRequest& request, const std::vector<std::string>& allowed) {
  NodeSet covered(request.graph->nodes.size());
  for (std::size_t c = 0; c < request.pool->candidates.size(); ++c) {
    const Candidate& candidate = request.pool->candidates[c];
    if (nanoseconds_of(request.costs[c]) && contains(allowed, candidate.backend))
      covered |= request.pool->regions[candidate.region].nodes;
  }
  NodeSet left(request.graph->nodes.size());
  for (std::size_t n = 0; n < request.graph->nodes.size(); ++n)
    if (!covered.contains(n)) left.insert(n);
  return left;
}

/// All non-empty proper subsets, larger ones first; a handful of backends at most.
std::vector<std::vector<std::string>> smaller_sets(const std::vector<std::string>& backends) {
  std::vector<std::vector<std::string>> sets;
  const std::size_t all = (std::size_t{1} << std::min<std::size_t>(backends.size(), 4)) - 1;
  for (std::size_t mask = 1; mask < all; ++mask) {
    std::vector<std::string> set;
    for (std::size_t b = 0; b < backends.size() && b < 4; ++b)
      if (mask >> b & 1U) set.push_back(backends[b]);
    sets.push_back(std::move(set));
  }
  std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return sets;
}

std::string name_of_set(const std::vector<std::string>& set) {
  if (set.size() == 1) return "only " + set.front();
  std::string name;
  for (const std::string& backend : set) name += (name.empty() ? "" : "+") + backend;
  return name;
}

}  // namespace

Result<SearchResult> best_cover(const CoverRequest& request, const std::vector<std::string>& allowed) {
  std::vector<std::string> names = allowed;
  names.emplace_back("host");
  const NodeSet left = left_over(request, names);
  std::vector<SearchCandidate> candidates;
  for (std::size_t c = 0; c < request.pool->candidates.size(); ++c) {
    const Candidate& candidate = request.pool->candidates[c];
    const Region& region = request.pool->regions[candidate.region];
    if (!nanoseconds_of(request.costs[c])) continue;
    const bool fills = candidate.backend == request.filler && region.nodes.is_subset_of(left);
    if (!contains(names, candidate.backend) && !fills) continue;
    candidates.push_back(
        {.region = &region, .backend = candidate.backend, .variant = candidate.variant, .cost = corrected(request, c)});
  }
  return choose_cover(*request.graph, uses_of(*request.graph), candidates, request.conversions, request.search);
}

Result<std::vector<NamedCover>> covers_to_confirm(const CoverRequest& request) {
  std::vector<NamedCover> covers;
  std::set<std::string> seen;
  COLLAGE_TRY(SearchResult best, best_cover(request, request.backends));
  seen.insert(to_text(*request.graph, best.cover));
  covers.push_back({"cover", std::move(best)});
  for (const std::vector<std::string>& set : smaller_sets(request.backends)) {
    auto result = best_cover(request, set);
    if (result && seen.insert(to_text(*request.graph, result->cover)).second)
      covers.push_back({name_of_set(set), std::move(*result)});
  }
  return covers;
}

}  // namespace collage
