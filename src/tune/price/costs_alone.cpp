#include "tune/price/costs_alone.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "plan/realise.h"

namespace collage {
namespace {

/// Candidates by the first node they compute.
std::vector<std::vector<std::size_t>> by_first_node(const CandidatePool& pool) {
  std::vector<std::vector<std::size_t>> at;
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const NodeSet& nodes = pool.regions[pool.candidates[c].region].nodes;
    if (nodes.empty()) continue;
    at.resize(std::max(at.size(), nodes.universe()));
    at[nodes.next()].push_back(c);
  }
  return at;
}

std::optional<std::size_t> candidate_of(const CoverStep& step, const CandidatePool& pool,
                                        const std::vector<std::vector<std::size_t>>& at) {
  const Region* const region = chosen_region(step);
  if (region == nullptr || region->nodes.empty() || region->nodes.next() >= at.size()) return std::nullopt;
  for (const std::size_t c : at[region->nodes.next()]) {
    const Candidate& candidate = pool.candidates[c];
    if (candidate.backend == step.backend && candidate.variant == *chosen_variant(step) &&
        pool.regions[candidate.region] == *region)
      return c;
  }
  return std::nullopt;
}

}  // namespace

Cover at_costs_alone(Cover cover, const CandidatePool& pool, std::span<const Cost> costs,
                     const BoundaryTable& conversions) {
  const auto at = by_first_node(pool);
  for (CoverStep& step : cover.steps) {
    if (const auto move = move_of(step)) {
      if (!conversions) continue;
      if (const auto choice = conversions(move->value, move->from, move->to)) step.cost = choice->cost;
    } else if (const auto c = candidate_of(step, pool, at); c && nanoseconds_of(costs[*c])) {
      step.cost = costs[*c];
    }
  }
  return cover;
}

ExplainedSum sum_of(const Cover& cover, std::int64_t launch_ns) {
  ExplainedSum sum;
  for (const CoverStep& step : cover.steps) {
    if (is_view(step)) continue;
    sum.launch_ns += launch_ns;
    const bool is_measured = std::holds_alternative<Measured>(step.cost);
    (is_measured ? sum.measured_ns : sum.estimated_ns) += nanoseconds_of(step.cost).value_or(0);
    ++(is_measured ? sum.measured : sum.estimated);
  }
  return sum;
}

void put_costs(const Cover& cover, PlanBody& plan) {
  const std::vector<std::size_t> at = cover_steps(plan);
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    PlanStep& step = plan.steps[at[s]];
    if (const auto* measured = std::get_if<Measured>(&cover.steps[s].cost)) {
      step.cost_ns = measured->median_ns;
      step.cost_low_ns = measured->low_ns;
      step.cost_high_ns = measured->high_ns;
      step.is_estimated = false;
    } else if (const auto ns = nanoseconds_of(cover.steps[s].cost)) {
      step.cost_ns = step.cost_low_ns = step.cost_high_ns = *ns;
      step.is_estimated = true;
    }
  }
}

}  // namespace collage
