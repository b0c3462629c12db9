// Exchanges the artifacts of a realised plan.
// In: a plan, new artifacts. Out: the same plan with other artifacts in its steps.
#pragma once

#include <string>
#include <string_view>

#include "backend/registry.h"
#include "plan/realise.h"

namespace collage {

/// Adds an artifact, unless the plan has it; its hash, for PlanStep::artifact.
[[nodiscard]] std::string add_artifact(RealisedPlan& plan, std::string_view bytes, const std::string& compatibility);

/// Removes the artifacts that no step names.
void drop_unused_artifacts(RealisedPlan& plan);

/// Lets each backend link all its kernels in the plan, those in bodies included, in one call
/// (backend/link_extension.h). Where a backend cannot, its steps keep their artifacts.
void link_kernels(RealisedPlan& plan, Registry& registry);

}  // namespace collage
