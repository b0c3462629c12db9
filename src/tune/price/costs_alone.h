// Covers with the costs of their steps measured alone, and what these add up to.
// A cover that was searched under costs corrected for its place in a plan carries the corrected ones; reports and plan
// files speak of those measured alone.
// In: a cover, the pool with its costs, conversions. Out: the cover with these costs; a sum whose parts add up.
// Cost: the candidates that begin where a step begins, for each step.
#pragma once

#include <span>

#include "plan/explain/explanation.h"
#include "plan/plan.h"
#include "region/candidates.h"
#include "search/search.h"

namespace collage {

/// Steps that neither the pool nor the conversions know keep their costs; bodies too.
[[nodiscard]] Cover at_costs_alone(Cover cover, const CandidatePool& pool, std::span<const Cost> costs,
                                   const BoundaryTable& conversions);

/// Of the steps of a cover, those of bodies not apart: they are in the cost of their operator.
[[nodiscard]] ExplainedSum sum_of(const Cover& cover, std::int64_t launch_ns);
[[nodiscard]] inline Nanoseconds total_ns(const ExplainedSum& sum) {
  return sum.measured_ns + sum.estimated_ns + sum.launch_ns;
}

/// The costs of a cover's steps in the plan made of it.
void put_costs(const Cover& cover, PlanBody& plan);

}  // namespace collage
