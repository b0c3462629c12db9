// Restores the costs of a cover's steps as measured alone, and their sum. A cover that was found with costs corrected
// for the context of a plan carries the corrected ones; reports and plan files give those measured alone.
// In:  a cover, the pool with its costs, conversions. Out: the cover with these costs; the sum of its parts.
// Cost: for each step, the candidates that begin at the same node.
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
