// A plan without any measuring: ONNX Runtime runs the whole model in one step. What `run MODEL` uses.
#pragma once

#include "backend/registry.h"
#include "onnx/import.h"
#include "plan/realise.h"

namespace collage {

struct UnmeasuredOptions {
  std::string model;
  ShapeBindings shapes;
  int threads = 1;
  std::string engine = "onnxruntime";
};

/// Errors import/*, engine/refused, and those of realise().
[[nodiscard]] Result<RealisedPlan> unmeasured_plan(const UnmeasuredOptions& options, Registry& registry);

}  // namespace collage
