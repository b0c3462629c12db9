// A plan without any measuring: the filler engine runs the whole model in one step. What `run MODEL` uses.
// In: a model. Out: a plan of one step.
// Cost: one compile of the engine.
#pragma once

#include "backend/registry.h"
#include "backend/roles.h"
#include "onnx/import_arrays.h"
#include "plan/realise.h"

namespace collage {

struct UnmeasuredOptions {
  std::string model;
  ShapeBindings shapes;
  ArrayShapes arrays = {};  ///< that will come as inputs: they say what `shapes` leaves open
  int threads = 1;
  std::string engine = kFillerEngine;
};

/// Errors import/*, engine/refused, and those of realise().
[[nodiscard]] Result<RealisedPlan> unmeasured_plan(const UnmeasuredOptions& options, Registry& registry);

}  // namespace collage
