// The plan as an exported library carries it: what running needs and nothing else.
// In:  a plan. Out: the same steps on the same bytes, without report, costs and reasons, and without constants that no
//       step reads (a plan file keeps those for its graph).
#pragma once

#include <cstddef>
#include <vector>

#include "plan/realised_plan.h"

namespace collage {

struct SlimPlan {
  RealisedPlan plan;  ///< no graph
  std::vector<std::byte> weights;
};

[[nodiscard]] SlimPlan slim_plan(const RealisedPlan& plan);

}  // namespace collage
