#include "runtime/load_request.h"

#include <algorithm>

namespace collage {

std::vector<Port> ports_of(const PlanBody& plan, const std::vector<PlanIndex>& values) {
  std::vector<Port> ports;
  for (const PlanIndex index : values) {
    const PlanValue& value = plan.values[index];
    ports.push_back({value.name, value.type, value.place});
  }
  return ports;
}

std::map<PlanIndex, Tensor> body_constants(const PlanBody& body, const std::map<PlanIndex, Tensor>& around) {
  std::map<PlanIndex, Tensor> constants;
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    const PlanValue& value = body.values[i];
    if (value.storage != Storage::kConstant) continue;
    constants.emplace(static_cast<PlanIndex>(i), Tensor{.type = value.type.element,
                                                        .extents = value.type.extents(),
                                                        .data = around.at(value.buffer).data.slice(0, value.bytes),
                                                        .strings = {}});
  }
  return constants;
}

LoadRequest load_request(const RealisedPlan& realised, const PlanBody& body,
                         const std::map<PlanIndex, Tensor>& constants, const PlanStep& step, int threads) {
  const std::vector<PlanArtifact>& artifacts = realised.plan.artifacts;
  const StepArtifact* const artifact = artifact_of(step);
  COLLAGE_CHECK(artifact != nullptr, "a step that loads nothing");
  LoadRequest request;
  request.artifact.bytes = realised.artifacts.at(artifact->hash).text();
  request.artifact.workspace_bytes = artifact->workspace.bytes;
  request.artifact.entry = artifact->entry;
  const auto listed = std::ranges::find(artifacts, artifact->hash, &PlanArtifact::hash);
  if (listed != artifacts.end()) request.artifact.compatibility = listed->compatibility;
  for (const PlanIndex constant : artifact->constants) request.constants.push_back(constants.at(constant));
  request.inputs = ports_of(body, step.inputs);
  request.outputs = ports_of(body, step.outputs);
  request.threads = threads;
  return request;
}

}  // namespace collage
