#include "runtime/load_request.h"

#include <algorithm>

namespace collage {

std::vector<Port> ports_of(const Plan& plan, const std::vector<PlanIndex>& values) {
  std::vector<Port> ports;
  for (const PlanIndex index : values)
    ports.push_back({plan.values[index].name, plan.values[index].type, plan.values[index].format});
  return ports;
}

LoadRequest load_request(const RealisedPlan& realised, const PlanStep& step, int threads) {
  const Plan& plan = realised.plan;
  LoadRequest request;
  request.artifact.bytes = realised.artifacts.at(step.artifact).text();
  request.artifact.workspace_bytes = step.workspace_bytes;
  const auto listed = std::ranges::find(plan.artifacts, step.artifact, &PlanArtifact::hash);
  if (listed != plan.artifacts.end()) request.artifact.compatibility = listed->compatibility;
  for (const PlanIndex constant : step.constants) request.constants.push_back(realised.constants.at(constant));
  request.inputs = ports_of(plan, step.inputs);
  request.outputs = ports_of(plan, step.outputs);
  request.threads = threads;
  return request;
}

}  // namespace collage
