// Values that steps are given while the plan runs: Storage::kDynamic and held inputs.
#pragma once

#include <algorithm>

#include "plan/plan.h"

namespace collage {

/// Whether the value lies in no buffer of the plan: its extents, or it itself, are known only during a run.
[[nodiscard]] inline bool is_given_in_run(const PlanValue& value) {
  return value.storage == Storage::kDynamic || value.type.is_held();
}

/// Of these, a tensor of known rank, which control steps pass on.
[[nodiscard]] inline bool is_open_tensor(const PlanValue& value) {
  return value.storage == Storage::kDynamic && value.type.is_open();
}

/// Whether some input of the step is such a value.
[[nodiscard]] inline bool reads_open_value(const PlanBody& body, const PlanStep& step) {
  return std::ranges::any_of(step.inputs, [&](PlanIndex input) { return is_given_in_run(body.values[input]); });
}

}  // namespace collage
