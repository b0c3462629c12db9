// A plan as it is needed to run it, and no more: smaller files for plans that are timed and thrown away.
// In:  a realised plan. Out: the same steps; constants that no step and no body reads are empty, and plan.onnx, which
// alone reads
//      them, is gone. So no reference can be made of it.
// Cost: linear in the plan's values; no constant is copied.
#pragma once

#include "plan/realised_plan.h"

namespace collage {

[[nodiscard]] RealisedPlan only_to_run(RealisedPlan plan);

}  // namespace collage
