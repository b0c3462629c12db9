#include "tune/price/quick_cover.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "region/narrow_variant.h"
#include "tune/price/hoped_gains.h"
#include "tune/price/lazy_costs.h"

namespace collage {
namespace {

/// What is wanted is a cover with 16 bits wherever they may pay.
constexpr double kHopedForNarrow = 0.5;

void favour_narrow(const CandidatePool& pool, std::vector<Cost>& costs) {
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (const auto ns = nanoseconds_of(costs[c]); ns && is_narrow(pool.candidates[c].variant))
      costs[c] = Estimated{.ns = std::llround(kHopedForNarrow * static_cast<double>(*ns))};
}

NodeSet nodes_run(const CandidatePool& pool, const std::vector<Cost>& costs, std::size_t count) {
  NodeSet run(count);
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (nanoseconds_of(costs[c])) run |= pool.regions[pool.candidates[c].region].nodes;
  return run;
}

}  // namespace

bool forecast_where_nobody_runs(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  if (!priced.bounds) return false;
  const CandidatePool& pool = priced.pool.candidates;
  const std::size_t count = task.graph().nodes.size();
  const CoverRequest known = priced.pricing->completed(cover_request(task, priced, {}));
  const NodeSet run = nodes_run(pool, known.costs, count);
  const std::vector<Cost> forecasts =
      LazyCosts(task.graph(), pool, *priced.bounds, priced.costs).forecast(Forecast::kExpected, count);
  bool came = false;
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const bool is_open = std::holds_alternative<Unknown>(priced.costs[c]) && nanoseconds_of(forecasts[c]);
    if (!is_open || pool.regions[pool.candidates[c].region].nodes.is_subset_of(run)) continue;
    if (making_of(env.registry, pool.candidates[c].backend) != Making::kQuick) continue;
    priced.costs[c] = forecasts[c];
    came = true;
  }
  return came;
}

QuickCovers::QuickCovers(const TuneTask& task, const MeasureEnv& env, Priced& priced)
    : priced_(priced), request_(cover_request(task, priced, {})) {
  const Graph& graph = task.graph();
  const CandidatePool& pool = *request_.pool;
  CostBounds bounds(graph, pool, task.options.accuracy, peak_rates(env.store), task.options.threads, {},
                    PricingMemory(env.store, graph, task.options).known(), engines_of(env.registry));
  request_.costs = LazyCosts(graph, pool, bounds, request_.costs).forecast(Forecast::kExpected, graph.nodes.size());
  request_.search.max_states = std::min(request_.search.max_states, kMostTrialStates);
  for (const Candidate& candidate : pool.candidates)
    if (!makings_.contains(candidate.backend)) makings_[candidate.backend] = making_of(env.registry, candidate.backend);
  std::ranges::copy_if(request_.backends, std::back_inserter(allowed_),
                       [&](const std::string& name) { return making_of(env.registry, name) != Making::kEngine; });
}

Result<SearchResult> QuickCovers::best() {
  CoverRequest whole = priced_.pricing->completed(request_);
  whole.costs = priced_.pricing->without_rounding(*whole.pool, std::move(whole.costs));
  leave_quick(whole.costs);
  favour_narrow(*whole.pool, whole.costs);
  return best_cover(whole, allowed_);
}

void QuickCovers::leave_quick(std::vector<Cost>& costs) const {
  const CandidatePool& pool = *request_.pool;
  const auto nodes_of = [&](std::size_t c) -> const NodeSet& { return pool.regions[pool.candidates[c].region].nodes; };
  const auto is_of = [&](std::size_t c, Making making) {
    return nanoseconds_of(costs[c]) && makings_.at(pool.candidates[c].backend) == making;
  };
  NodeSet quick(request_.graph->nodes.size());
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (is_of(c, Making::kQuick)) quick |= nodes_of(c);
  NodeSet narrow(request_.graph->nodes.size());
  for (std::size_t c = 0; c < costs.size(); ++c) {
    if (!is_of(c, Making::kCompiler)) continue;
    if (nodes_of(c).intersects(quick))
      costs[c] = Unknown{};
    else if (is_narrow(pool.candidates[c].variant))
      narrow |= nodes_of(c);
  }
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (is_of(c, Making::kCompiler) && !is_narrow(pool.candidates[c].variant) && nodes_of(c).intersects(narrow))
      costs[c] = Unknown{};
}

}  // namespace collage
