// Whether a plan can become a library.
// In:  a plan of one shape, the backends of its steps. Out: nothing, or an error that names the steps that cannot.
#pragma once

#include "backend/registry.h"
#include "plan/plan.h"

namespace collage {

/// Errors export/backend: steps of backends that are no part of exported libraries, with their nodes; export/shape: an
/// input or output without a fixed shape. `label` names the plan in them.
[[nodiscard]] Result<void> check_exportable(const Plan& plan, const BackendSource& backends, const std::string& label);

/// Whether the instance's kernels can be linked into a library; not when it is missing here.
[[nodiscard]] bool is_exportable(const BackendSource& backends, const std::string& instance);

}  // namespace collage
