#include "tune/explain/explain_inputs.h"

#include <algorithm>
#include <set>

#include "backend/roles.h"

namespace collage {
namespace {

/// Backends that run steps, the host aside: it only moves data and is in every plan.
void add_backends(const Cover& cover, std::set<std::string>& names) {
  for (const CoverStep& step : cover.steps) {
    if (needs_backend(step) && step.backend != kHostBackend) names.insert(step.backend);
    for (const Cover& body : bodies_of(step)) add_backends(body, names);
  }
}

CompetingPlan competing(const Contestant& contestant) {
  std::set<std::string> used;
  add_backends(contestant.cover, used);
  return {.name = title_of(contestant),
          .cover = &contestant.cover,
          .median_ns = contestant.median_ns,
          .is_rival = contestant.is_rival,
          .is_single = contestant.is_rival || used.size() < 2};
}

void add_plans(const TuneResult& result, ExplainInputs& inputs) {
  inputs.plans.push_back(competing(result.contest.winner()));
  for (const Contestant* loser : result.contest.losers()) inputs.plans.push_back(competing(*loser));
  for (const SearchResult& other : result.alternatives.covers)
    inputs.plans.push_back({.name = "alternative", .cover = &other.cover, .is_alternative = true});
  inputs.alternatives_complete = result.alternatives.complete;
  inputs.why_no_alternatives = result.alternatives.why_none;
}

void add_participants(const TuneResult& result, ExplainInputs& inputs) {
  const Participants& who = result.task.who;
  const TuneOptions& options = result.task.options;
  for (const std::string& name : who.proposing) {
    const bool is_asked = std::ranges::find(who.backends, name) != who.backends.end();
    const bool fills = !is_asked && (name == kFillerEngine || options.only);
    (fills ? inputs.fillers : inputs.backends).push_back(name);
  }
  inputs.only = options.only.value_or("");
  inputs.absent = who.absent;
  inputs.rules = who.rules;
  inputs.user_rules = options.user_rules;
  inputs.proposals = result.priced.pool.rules;
  inputs.locations = who.locations;
}

ExplainedPeak peak_of(const PeakRates& rates, int threads) {
  return {.flops_per_ns = threads * rates.flops_per_ns,
          .cache_bytes_per_ns = threads * rates.bytes_per_ns,
          .memory_bytes_per_ns = rates.memory_bytes_per_ns};
}

}  // namespace

ExplainInputs explain_inputs(const TuneResult& result, const CoverBounds& bounds) {
  const Priced& priced = result.priced;
  ExplainInputs inputs;
  inputs.graph = &result.task.graph();
  inputs.pool = &priced.pool.candidates;
  inputs.costs = priced.costs;
  if (priced.has_covers()) {
    inputs.costs = priced.pricing->without_broken(priced.pool.candidates, priced.costs);
    inputs.conversions = priced.pricing->boundary_table();
  }
  for (std::size_t c = 0; priced.bounds && c < priced.costs.size(); ++c)
    inputs.lower_bound_ns.push_back(priced.bounds->roofline(priced.pool.candidates.candidates[c].region));
  if (priced.bounds) inputs.peak = peak_of(priced.bounds->peak(), result.task.options.threads);
  inputs.why_unmeasured = priced.why_unmeasured;
  inputs.precision = result.contest.precision;
  add_plans(result, inputs);
  add_participants(result, inputs);
  if (bounds.best) {
    inputs.model_bound_ns = bounds.model_ns;
    inputs.proven_bound_ns = bounds.proven_ns;
  }
  return inputs;
}

}  // namespace collage
