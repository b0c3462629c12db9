// Two plans of one model as one page that needs nothing else.
// In:  a PlanDiff. Out: HTML, which shows what `collage diff --json` says.
#pragma once

#include <string>

#include "plan/diff/plan_diff.h"

namespace collage {

[[nodiscard]] std::string diff_page(const PlanDiff& diff);

}  // namespace collage
