#include "tune/explain/alternatives.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "search/k_best.h"
#include "tune/price/computations.h"

namespace collage {
namespace {

/// Of a node that only one class covers. Sums of it over a graph do not overflow.
constexpr std::int64_t kNobody = std::int64_t{1} << 40;

/// Classes of the pool's candidates, by candidate of the search, which are some of these in the same order.
std::vector<std::uint32_t> classes_of(const CoverRequest& request, const std::vector<SearchCandidate>& candidates) {
  const std::vector<std::uint32_t> all = computation_classes(*request.graph, *request.pool);
  std::vector<std::uint32_t> classes;
  std::size_t c = 0;
  for (const SearchCandidate& wanted : candidates) {
    const auto is_wanted = [&](const Candidate& made) {
      return &request.pool->regions[made.region] == wanted.region && made.backend == wanted.backend &&
             made.variant == wanted.variant;
    };
    while (!is_wanted(request.pool->candidates.at(c))) ++c;
    classes.push_back(all[c++]);
  }
  return classes;
}

/// The least share of a node that a candidate's cost leaves it, and the least of another class.
struct LeastShares {
  std::int64_t ns = kNobody;
  std::uint32_t of = 0;
  std::int64_t next_ns = kNobody;

  void add(std::int64_t share, std::uint32_t by) {
    if (share < ns) {
      if (by != of) next_ns = ns;
      ns = share;
      of = by;
    } else if (by != of) {
      next_ns = std::min(next_ns, share);
    }
  }
  [[nodiscard]] std::int64_t without(std::uint32_t by) const { return by == of ? next_ns : ns; }
};

/// By class: about what doing without it costs, all copies together.
std::vector<std::int64_t> prices(const CoverRequest& request, const std::vector<SearchCandidate>& candidates,
                                 const std::vector<std::uint32_t>& classes) {
  std::vector<LeastShares> least(request.graph->nodes.size());
  std::vector<NodeSet> covered;
  std::vector<std::int64_t> costs;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    covered.push_back(candidates[c].region->covered());
    const std::int64_t launch = candidates[c].variant.name == "view" ? 0 : request.search.launch_ns;
    costs.push_back(*nanoseconds_of(candidates[c].cost) + launch);
    const std::int64_t share = costs[c] / static_cast<std::int64_t>(covered[c].count());
    for (const std::size_t n : covered[c].members()) least[n].add(share, classes[c]);
  }
  std::vector<std::int64_t> prices(classes.empty() ? 0 : std::ranges::max(classes) + std::size_t{1}, 0);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    std::int64_t others = 0;
    for (const std::size_t n : covered[c].members()) others += least[n].without(classes[c]);
    prices[classes[c]] += std::max<std::int64_t>(0, others - costs[c]);
  }
  return prices;
}

/// Numbers classes anew, those with a low price first.
void sort_classes(const std::vector<std::int64_t>& prices, std::vector<std::uint32_t>& classes) {
  std::vector<std::uint32_t> order(prices.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t k) { return prices[k]; });
  std::vector<std::uint32_t> number(order.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
  for (std::uint32_t& k : classes) k = number[k];
}

BoundaryTable measured_ones(BoundaryTable conversions) {
  return [conversions = std::move(conversions)](ValueId value, const Place& from, const Place& to) {
    std::optional<BoundaryChoice> choice = conversions(value, from, to);
    if (choice && !std::holds_alternative<Measured>(choice->cost)) choice.reset();
    return choice;
  };
}

}  // namespace

Alternatives find_alternatives(CoverRequest request, const AlternativesOptions& options) {
  if (!request.conflicts.empty()) return {.why_none = "some backends cannot be in one plan with others"};
  request.conversions = measured_ones(std::move(request.conversions));
  request.search.max_states = std::min(request.search.max_states, options.max_states);
  const std::vector<SearchCandidate> candidates = usable_candidates(request);
  std::vector<std::uint32_t> classes = classes_of(request, candidates);
  sort_classes(prices(request, candidates, classes), classes);
  auto found =
      k_best_covers(*request.graph, uses_of(*request.graph), candidates, classes, request.conversions, request.search,
                    {.count = options.count, .max_searches = options.max_searches, .max_work = options.max_work});
  if (!found) return {.why_none = to_string(found.error())};
  return {.covers = std::move(found->covers), .complete = found->complete};
}

}  // namespace collage
