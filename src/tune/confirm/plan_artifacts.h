// Links the kernels of a realised plan, and removes artifacts that no step uses.
// In: a plan. Out: the same plan with other artifacts in its steps.
#pragma once

#include "backend/registry.h"
#include "plan/realise.h"

namespace collage {

/// Removes the artifacts that no step names.
void drop_unused_artifacts(RealisedPlan& plan);

/// Lets each backend link all its kernels in the plan, those in bodies included, in one call
/// (backend/extensions/link_extension.h). Where a backend cannot, its steps keep their artifacts.
void link_kernels(RealisedPlan& plan, Registry& registry);

}  // namespace collage
