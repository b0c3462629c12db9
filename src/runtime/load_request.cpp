#include "runtime/load_request.h"

#include <algorithm>

namespace collage {

std::vector<Port> ports_of(const PlanBody& plan, const std::vector<PlanIndex>& values) {
  std::vector<Port> ports;
  for (const PlanIndex index : values)
    ports.push_back(
        {plan.values[index].name, plan.values[index].type, plan.values[index].format, plan.values[index].location});
  return ports;
}

LoadRequest load_request(const RealisedPlan& realised, const PlanBody& body,
                         const std::map<PlanIndex, Tensor>& constants, const PlanStep& step, int threads) {
  const std::vector<PlanArtifact>& artifacts = realised.plan.artifacts;
  LoadRequest request;
  request.artifact.bytes = realised.artifacts.at(step.artifact).text();
  request.artifact.workspace_bytes = step.workspace_bytes;
  const auto listed = std::ranges::find(artifacts, step.artifact, &PlanArtifact::hash);
  if (listed != artifacts.end()) request.artifact.compatibility = listed->compatibility;
  for (const PlanIndex constant : step.constants) request.constants.push_back(constants.at(constant));
  request.inputs = ports_of(body, step.inputs);
  request.outputs = ports_of(body, step.outputs);
  request.threads = threads;
  return request;
}

}  // namespace collage
