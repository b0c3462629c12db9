// A plan as it is needed to run it, and no more: smaller files for plans that are timed and thrown away.
// In:  a realised plan. Out: the same steps. Constants that no step and no body reads are empty, and there is no
//       plan.onnx, which would read them: outputs cannot be compared with the reference that a plan otherwise holds.
// Cost: linear in the plan's values; no constant is copied.
#pragma once

#include "plan/realised_plan.h"

namespace collage {

[[nodiscard]] RealisedPlan only_to_run(RealisedPlan plan);

}  // namespace collage
