// Adds artifacts to a realised plan: their bytes by hash, and the list of them in the plan, which stays sorted by hash.
#pragma once

#include <string>
#include <string_view>

#include "plan/realised_plan.h"

namespace collage {

/// Adds an artifact under its hash, unless the plan has it.
void add_artifact(RealisedPlan& plan, const std::string& hash, const std::string& compatibility, Buffer bytes);

/// The same of bytes without a hash, which are copied when they are new. Returns the hash, for StepArtifact::hash.
[[nodiscard]] std::string add_artifact(RealisedPlan& plan, std::string_view bytes, const std::string& compatibility);

}  // namespace collage
