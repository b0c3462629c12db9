#include "tune/price/covers.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>
#include <set>

#include "region/narrow_variant.h"

namespace collage {
namespace {

/// What a step may cost more between others than alone, at most.
constexpr std::int64_t kDearLaunchNs = 3000;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Nodes that no usable candidate of the allowed backends covers.
NodeSet left_over(const CoverRequest& request, const std::vector<std::string>& allowed) {
  NodeSet covered(request.graph->nodes.size());
  for (std::size_t c = 0; c < request.pool->candidates.size(); ++c) {
    const Candidate& candidate = request.pool->candidates[c];
    if (nanoseconds_of(request.costs[c]) && contains(allowed, candidate.backend))
      covered |= request.pool->regions[candidate.region].covered();
  }
  NodeSet left(request.graph->nodes.size());
  for (std::size_t n = 0; n < request.graph->nodes.size(); ++n)
    if (!covered.contains(n)) left.insert(n);
  return left;
}

/// Backends of the request with a candidate that can be used; the others change nothing.
std::vector<std::string> useful_backends(const CoverRequest& request) {
  std::set<std::string> useful;
  for (std::size_t c = 0; c < request.pool->candidates.size(); ++c)
    if (nanoseconds_of(request.costs[c])) useful.insert(request.pool->candidates[c].backend);
  std::vector<std::string> names;
  for (const std::string& name : request.backends)
    if (useful.contains(name)) names.push_back(name);
  return names;
}

/// All but one of the backends, for each of them, the last one first; then each alone.
std::vector<std::vector<std::string>> smaller_sets(const std::vector<std::string>& backends) {
  std::vector<std::vector<std::string>> sets;
  for (const std::string& left_out : backends | std::views::reverse) {
    std::vector<std::string> set = backends;
    std::erase(set, left_out);
    if (set.size() > 1) sets.push_back(std::move(set));
  }
  if (backends.size() > 1)
    for (const std::string& alone : backends) sets.push_back({alone});
  return sets;
}

/// By those that are in it when that is one, else by those that are not.
std::string name_of_set(const std::vector<std::string>& set, const std::vector<std::string>& all) {
  if (set.size() == 1) return set.front() + " alone";
  std::string absent;
  for (const std::string& backend : all)
    if (!contains(set, backend)) absent += (absent.empty() ? "" : ", ") + backend;
  return "mixed without " + absent;
}

bool uses(const Cover& cover, const std::string& backend) {
  return std::ranges::any_of(cover.steps,
                             [&](const CoverStep& step) { return is_kernel(step) && step.backend == backend; });
}

/// The usable candidates of `allowed`, of the host and of the filler. When `fillers_wait`, these two take only nodes
/// that nobody else covers (the host only if the request says so).
std::vector<SearchCandidate> candidates_of(const CoverRequest& request, const std::vector<std::string>& allowed,
                                           bool fillers_wait) {
  std::vector<std::string> names = allowed;
  const NodeSet left_to_host = left_over(request, names);
  names.emplace_back(kHostBackend);
  const NodeSet left = left_over(request, names);
  std::vector<SearchCandidate> candidates;
  for (std::size_t c = 0; c < request.pool->candidates.size(); ++c) {
    const Candidate& candidate = request.pool->candidates[c];
    const Region& region = request.pool->regions[candidate.region];
    if (!nanoseconds_of(request.costs[c])) continue;
    const bool fills = candidate.backend == request.filler && (!fillers_wait || region.nodes.is_subset_of(left));
    const bool host_waits = fillers_wait && request.host_fills && candidate.backend == kHostBackend;
    if (host_waits && !region.nodes.is_subset_of(left_to_host)) continue;
    if (!contains(names, candidate.backend) && !fills) continue;
    candidates.push_back({.region = &region,
                          .backend = candidate.backend,
                          .variant = candidate.variant,
                          .cost = request.costs[c],
                          .location = request.locations.of(candidate.backend),
                          .workspace_bytes = request.workspace_bytes.empty() ? 0 : request.workspace_bytes[c],
                          .matches = candidate.matches});
  }
  return candidates;
}

/// The best cover without 16 bits, where it is another one; nothing when no candidate has them. Small narrow steps look
/// faster alone than they are between others.
std::optional<Result<SearchResult>> full_precision_cover(const CoverRequest& request) {
  CoverRequest full = request;
  bool has_narrow = false;
  for (std::size_t c = 0; c < full.costs.size(); ++c) {
    const Variant& variant = full.pool->candidates[c].variant;
    if (!has_16_bits(variant) || !nanoseconds_of(full.costs[c])) continue;
    full.costs[c] = Unknown{};
    has_narrow = has_narrow || is_narrow(variant);
  }
  return has_narrow ? std::optional(best_cover(full, full.backends)) : std::nullopt;
}

/// The best cover when a step is dear: measured alone, small steps look cheaper than they are between others, and the
/// more parts a cover has, the likelier it owes its place to errors of measurement.
Result<SearchResult> cover_of_fewer_steps(const CoverRequest& request) {
  CoverRequest thrifty = request;
  thrifty.search.launch_ns = kDearLaunchNs;
  COLLAGE_TRY(SearchResult result, best_cover(thrifty, request.backends));
  const auto launched = std::ranges::count_if(result.cover.steps, [](const CoverStep& step) { return !is_view(step); });
  result.cover.cost_ns -= launched * (kDearLaunchNs - request.search.launch_ns);
  result.bound_ns = 0;
  return result;
}

}  // namespace

std::vector<SearchCandidate> usable_candidates(const CoverRequest& request) {
  return candidates_of(request, request.backends, true);
}

namespace {

/// The largest sets of these names without two that conflict.
std::set<std::vector<std::string>> peaceful_sets(const std::vector<std::string>& names, const CoverRequest& request) {
  for (const auto& [a, b] : request.conflicts) {
    if (!contains(names, a) || !contains(names, b)) continue;
    std::set<std::vector<std::string>> sets;
    for (const std::string& without : {a, b}) {
      std::vector<std::string> fewer = names;
      std::erase(fewer, without);
      sets.merge(peaceful_sets(fewer, request));
    }
    return sets;
  }
  return {names};
}

Result<SearchResult> best_peaceful_cover(const CoverRequest& request, const std::vector<std::string>& allowed);

/// The best over all sets; what is proven of all of them.
Result<SearchResult> best_of_sets(const CoverRequest& request, const std::vector<std::string>& allowed) {
  std::vector<std::string> names = allowed;
  if (!contains(names, request.filler)) names.push_back(request.filler);
  std::optional<Result<SearchResult>> best;
  std::int64_t bound = std::numeric_limits<std::int64_t>::max();
  bool exact = true;
  for (const std::vector<std::string>& set : peaceful_sets(names, request)) {
    CoverRequest part = request;
    if (!contains(set, request.filler)) part.filler.clear();
    std::vector<std::string> asked;
    for (const std::string& name : allowed)
      if (contains(set, name)) asked.push_back(name);
    auto found = best_peaceful_cover(part, asked);
    if (!found) {
      if (!best) best = std::move(found);
      continue;
    }
    bound = std::min(bound, found->bound_ns);
    exact = exact && found->exact;
    if (!best || !*best || found->cover.cost_ns < (*best)->cover.cost_ns) best = std::move(found);
  }
  if (*best) {
    (*best)->bound_ns = bound;
    (*best)->exact = exact;
  }
  return std::move(*best);
}

Result<SearchResult> best_peaceful_cover(const CoverRequest& request, const std::vector<std::string>& allowed) {
  auto strict = choose_cover(*request.graph, uses_of(*request.graph), candidates_of(request, allowed, true),
                             request.conversions, request.search);
  // Regions that overlap can leave nodes over although each node is in one of them.
  if (strict || strict.error().code != "search/no-cover") return strict;
  return choose_cover(*request.graph, uses_of(*request.graph), candidates_of(request, allowed, false),
                      request.conversions, request.search);
}

}  // namespace

Result<SearchResult> best_cover(const CoverRequest& request, const std::vector<std::string>& allowed) {
  return request.conflicts.empty() ? best_peaceful_cover(request, allowed) : best_of_sets(request, allowed);
}

Result<std::int64_t> proven_bound_ns(const CoverRequest& request) {
  CoverRequest optimistic = request;
  for (std::size_t c = 0; c < optimistic.costs.size(); ++c)
    if (request.pool->candidates[c].backend == kControlBackend)
      optimistic.costs[c] = Estimated{.ns = 0};
    else if (std::holds_alternative<Unknown>(optimistic.costs[c]) ||
             std::holds_alternative<Estimated>(optimistic.costs[c]))
      optimistic.costs[c] = Estimated{.ns = request.least_ns.empty() ? 0 : request.least_ns[c]};
  COLLAGE_TRY(const SearchResult result, best_cover(optimistic, request.backends));
  return result.bound_ns;
}

Result<std::vector<NamedCover>> covers_to_confirm(const CoverRequest& request) {
  std::vector<NamedCover> covers;
  std::set<std::string> seen;
  COLLAGE_TRY(SearchResult best, best_cover(request, request.backends));
  seen.insert(to_text(*request.graph, best.cover));
  covers.push_back({"mixed", std::move(best)});
  COLLAGE_TRY(SearchResult fewer, cover_of_fewer_steps(request));
  if (seen.insert(to_text(*request.graph, fewer.cover)).second)
    covers.push_back({"mixed, fewer steps", std::move(fewer)});
  if (auto full = full_precision_cover(request);
      full && *full && seen.insert(to_text(*request.graph, (*full)->cover)).second)
    covers.push_back({"mixed, full precision", std::move(**full)});
  if (request.best_alone) return covers;
  const std::vector<std::string> useful = useful_backends(request);
  for (const std::vector<std::string>& set : smaller_sets(useful)) {
    auto result = best_cover(request, set);
    if (!result || !seen.insert(to_text(*request.graph, result->cover)).second) continue;
    const bool is_filled = !contains(set, request.filler) && uses(result->cover, request.filler);
    covers.push_back({name_of_set(set, useful) + (is_filled ? ", rest by " + request.filler : ""), std::move(*result)});
  }
  return covers;
}

}  // namespace collage
