// What a backend is asked to load for one step of a plan.
#pragma once

#include <vector>

#include "backend/backend.h"
#include "plan/realise.h"

namespace collage {

/// Plan values as ports.
[[nodiscard]] std::vector<Port> ports_of(const Plan& plan, const std::vector<PlanIndex>& values);

/// For a kernel or conversion step. Views the artifacts of `realised`, which outlive the request.
[[nodiscard]] LoadRequest load_request(const RealisedPlan& realised, const PlanStep& step, int threads);

}  // namespace collage
