// Values of open shape between steps: Storage::kDynamic.
#pragma once

#include <algorithm>

#include "plan/plan.h"

namespace collage {

/// Whether some input of the step has extents that only an earlier step decides.
[[nodiscard]] inline bool reads_open_value(const PlanBody& body, const PlanStep& step) {
  return std::ranges::any_of(step.inputs,
                             [&](PlanIndex input) { return body.values[input].storage == Storage::kDynamic; });
}

}  // namespace collage
