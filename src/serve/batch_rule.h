// Whether requests for a plan can be run at once, joined along a dimension of its domain, and which of them.
// In:  the shapes of a plan. Out: the dimension that is the first axis of every input and output, and no other axis.
// How: shapes cannot show that a row of the outputs depends on that row of the inputs only, so
//       rows_are_independent() (serve/batch_run.h) tries it when the plan is loaded.
// Example: x f32[batch,3] -> y f32[batch,5] with batch=1..8: requests of 1, 2 and 4 rows become one run of 7.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/shape_domain.h"
#include "plan/plan_cases.h"
#include "serve/pending_request.h"

namespace collage {

struct BatchRule {
  std::size_t dimension = 0;  ///< position in the domain
  std::int64_t most = 0;      ///< rows of one run
};

/// Nothing when no dimension is such a one.
[[nodiscard]] std::optional<BatchRule> batch_rule_of(const PlanCases& cases);

/// The extents of the inputs of these requests, run as one.
[[nodiscard]] std::vector<Extents> joined_extents(std::span<PendingRequest* const> batch);

/// Whether `next` can be run with those taken: the same extents behind the first axis, no more rows than a run may
/// have, and a plan for their sum.
[[nodiscard]] bool may_join(const PlanCases& cases, const BatchRule& rule, std::span<PendingRequest* const> taken,
                            const PendingRequest& next);

}  // namespace collage
