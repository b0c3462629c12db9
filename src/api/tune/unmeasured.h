// Makes a plan without measuring: one engine runs the whole model in one step. `collage run MODEL` uses it.
// In:  a model. Out: a plan of one step. Cost: an import and one compilation by the engine.
#pragma once

#include "backend/registry.h"
#include "backend/roles.h"
#include "onnx/import_arrays.h"
#include "plan/realise.h"
#include "sandbox/model_reader.h"

namespace collage {

struct UnmeasuredOptions {
  std::string model;       ///< path of the .onnx file
  std::string model_name;  ///< what the plan calls it; empty = by its path
  ShapeBindings shapes;
  ArrayShapes arrays = {};  ///< that are used as inputs: they give the extents that `shapes` leaves open
  int threads = 1;
  ModelReader reader = {};
  std::string engine = kFillerEngine;
};

/// Errors import/*, engine/refused, and those of realise().
[[nodiscard]] Result<RealisedPlan> unmeasured_plan(const UnmeasuredOptions& options, Registry& registry);

}  // namespace collage
