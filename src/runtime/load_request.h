// Makes the request with which a backend loads the kernel of one step of a plan.
#pragma once

#include <map>
#include <vector>

#include "backend/backend.h"
#include "plan/realised_plan.h"

namespace collage {

/// Plan values as ports.
[[nodiscard]] std::vector<Port> ports_of(const PlanBody& plan, const std::vector<PlanIndex>& values);

/// The constants of a body: tensors of the body's types over the bytes of those around it.
[[nodiscard]] std::map<PlanIndex, Tensor> body_constants(const PlanBody& body,
                                                         const std::map<PlanIndex, Tensor>& around);

/// For a kernel or conversion step of `body` with the body's constants. Views the artifacts of `realised`, which
/// outlive the request.
[[nodiscard]] LoadRequest load_request(const RealisedPlan& realised, const PlanBody& body,
                                       const std::map<PlanIndex, Tensor>& constants, const PlanStep& step, int threads);
/// The same for a step outside bodies.
[[nodiscard]] inline LoadRequest load_request(const RealisedPlan& realised, const PlanStep& step, int threads) {
  return load_request(realised, realised.plan, realised.constants, step, threads);
}

}  // namespace collage
