// Assembles a complete plan from a cover and its artifacts, plan.onnx included.
// In:  a graph, a cover, artifacts. Out: a realised plan.
// Cost: linear in the plan; weights are not copied.
#pragma once

#include <vector>

#include "backend/registry.h"
#include "plan/realise.h"

namespace collage {

struct AssembleRequest {
  const Graph* graph = nullptr;  ///< what the cover covers
  const Cover* cover = nullptr;
  /// One per cover step, empty for views and control steps; a control step's is followed by those of its bodies' steps.
  std::vector<Artifact> artifacts;
  Plan header;  ///< model, machine, accuracy, threads; backends are filled in here
};

/// Errors of realise(); backend/* when an instance of the cover cannot be had.
[[nodiscard]] Result<RealisedPlan> assemble(const AssembleRequest& request, Registry& registry);

/// The graph as plain ONNX with weights in weights.bin at the plan's offsets, each node saying which step runs it.
[[nodiscard]] std::string annotated_onnx(const Graph& graph, const Cover& cover, const Plan& plan);

}  // namespace collage
