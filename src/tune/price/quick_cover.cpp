#include "tune/price/quick_cover.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "backend/roles.h"
#include "region/narrow_variant.h"
#include "tune/price/hoped_gains.h"
#include "tune/price/lazy_costs.h"

namespace collage {
namespace {

enum class Making : std::uint8_t { kQuick, kCompiler, kEngine };

Making making_of(const MeasureEnv& env, const std::string& name) {
  if (name == kControlBackend) return Making::kQuick;
  const auto backend = env.registry.get(name);
  if (!backend || (*backend)->info().is_engine) return Making::kEngine;
  return (*backend)->info().is_compiler ? Making::kCompiler : Making::kQuick;
}

/// What is wanted is a cover with 16 bits wherever they may pay.
constexpr double kHopedForNarrow = 0.5;

void favour_narrow(const CandidatePool& pool, std::vector<Cost>& costs) {
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (const auto ns = nanoseconds_of(costs[c]); ns && is_narrow(pool.candidates[c].variant))
      costs[c] = Estimated{.ns = std::llround(kHopedForNarrow * static_cast<double>(*ns))};
}

/// Of compilers leaves the candidates in 16 bits at nodes for which nobody else has any, and the others at nodes that
/// nobody else runs and nobody runs in 16 bits.
void leave_quick(const CandidatePool& pool, const std::map<std::string, Making>& makings, std::size_t nodes,
                 std::vector<Cost>& costs) {
  NodeSet quick_narrow(nodes);
  NodeSet run(nodes);
  const auto nodes_of = [&](std::size_t c) -> const NodeSet& { return pool.regions[pool.candidates[c].region].nodes; };
  const auto is_of_compiler = [&](std::size_t c) {
    return makings.at(pool.candidates[c].backend) == Making::kCompiler;
  };
  for (std::size_t c = 0; c < costs.size(); ++c) {
    if (!nanoseconds_of(costs[c]) || makings.at(pool.candidates[c].backend) == Making::kEngine) continue;
    const bool narrow = is_narrow(pool.candidates[c].variant);
    if (narrow || !is_of_compiler(c)) run |= nodes_of(c);
    if (narrow && !is_of_compiler(c)) quick_narrow |= nodes_of(c);
  }
  for (std::size_t c = 0; c < costs.size(); ++c) {
    const NodeSet& others = is_narrow(pool.candidates[c].variant) ? quick_narrow : run;
    if (is_of_compiler(c) && nodes_of(c).intersects(others)) costs[c] = Unknown{};
  }
}

}  // namespace

Result<SearchResult> quick_cover(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  const Graph& graph = task.graph();
  const CandidatePool& pool = priced.pool.candidates;
  CostBounds bounds(graph, pool, task.options.accuracy, peak_rates(env.store), task.options.threads, {},
                    PricingMemory(env.store, graph, task.options).known());
  CoverRequest request = cover_request(task, priced, {});
  request.costs = LazyCosts(graph, pool, bounds, request.costs).forecast(Forecast::kExpected, graph.nodes.size());
  request.search.max_states = std::min(request.search.max_states, kMostTrialStates);
  CoverRequest whole = priced.pricing->completed(std::move(request));
  std::map<std::string, Making> makings;
  for (const Candidate& candidate : pool.candidates)
    if (!makings.contains(candidate.backend)) makings[candidate.backend] = making_of(env, candidate.backend);
  leave_quick(pool, makings, graph.nodes.size(), whole.costs);
  favour_narrow(pool, whole.costs);
  std::vector<std::string> allowed;
  std::ranges::copy_if(whole.backends, std::back_inserter(allowed),
                       [&](const std::string& name) { return making_of(env, name) != Making::kEngine; });
  return best_cover(whole, allowed);
}

}  // namespace collage
