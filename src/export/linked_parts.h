// What a library is linked from beside its runtime: the plan with artifacts that name linked code, and that code.
// In:  a plan that check_exportable() accepts. Out: the plan's artifacts as the library carries them, object files.
#pragma once

#include <string>
#include <vector>

#include "backend/extensions/export_extension.h"
#include "backend/registry.h"
#include "plan/realised_plan.h"

namespace collage {

struct LinkedParts {
  RealisedPlan plan;              ///< shares the constants of the one given
  std::vector<LinkedCode> codes;  ///< views the artifacts of the one given
};

/// The same for equal plans. Errors of ExportExtension::exported(); where = the first step with the artifact.
[[nodiscard]] Result<LinkedParts> linked_parts(const RealisedPlan& plan, const BackendSource& backends);

}  // namespace collage
