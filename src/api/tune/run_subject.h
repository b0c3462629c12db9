// Finds what a command is to run: a plan file, or a bare model with an unmeasured plan, at one shape.
// In:  a path, the user's shapes, files of inputs. Out: the plan, and its graph, for which inputs are made.
#pragma once

#include <map>
#include <string>

#include "backend/registry.h"
#include "ir/graph.h"
#include "ir/shape_bindings.h"
#include "plan/plan_cases.h"
#include "sandbox/model_reader.h"

namespace collage {

struct RunSubjectOptions {
  std::string path;                          ///< a plan, or a .onnx model
  ShapeBindings shapes;                      ///< of a model, or of a plan of many shapes: which one
  std::map<std::string, std::string> files;  ///< input name -> array, which gives the extents that `shapes` leaves open
  int threads = 1;                           ///< of a model's plan
  ModelReader reader = {};                   ///< of a model
  Signers signers = {};                      ///< one of them must have signed the plan; empty = any plan, or a model
};

struct RunSubject {
  PlanCases cases;
  RealisedPlan plan;  ///< that serves the shape
  Graph graph;        ///< plan.onnx at the shape; its large constants are zeros
};

/// Errors: those of loading the plan, shape/*, input/*, tensor/*; of unmeasured_plan() for a model.
[[nodiscard]] Result<RunSubject> find_run_subject(const RunSubjectOptions& options, Registry& registry);

}  // namespace collage
