// Makes the generic plan, which serves every shape of a domain: the whole model, with open dimensions, in one engine or
// in kernels of one backend that are compiled for parts of the domain (backend/extensions/open_compiler.h).
// In:  a model, the domain, engines. Out: a plan for each engine that supports it, for the model as imported and as
//       simplified; which one ships is measured (tune/shapes/tune_shapes.h).
// Cost: an import and a compilation for each.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/work_folder.h"
#include "plan/plan_cases.h"
#include "tune/shapes/shape_samples.h"
#include "tune/tune.h"
#include "worker/worker_process.h"

namespace collage {

/// The model with the domain's dimensions open.
struct OpenModel {
  Graph graph;
  std::string model_hash;
  std::vector<CaseInput> inputs;
  ShapeDomain domain;
  std::vector<ShapeSample> samples = {};  ///< that the user asked for
};

/// Errors: import/*; shape/range for a range of an input's name; shape/no-input; import/unbound-dimension when a
/// dimension has neither range nor extent.
[[nodiscard]] Result<OpenModel> import_open(const TuneOptions& options, const ShapeDomain& domain, Registry& registry,
                                            WorkerProcess& worker, const WorkFolder& folder);

struct GenericPlan {
  std::string name;  ///< the engine, or "ENGINE on the simplified graph"
  RealisedPlan plan;
};

inline constexpr std::size_t kAllGenericPlans = std::numeric_limits<std::size_t>::max();

/// At most `most` of them. Who does not take the model is told in `notes`. Compiles in the worker; artifacts lie in
/// `folder` meanwhile.
[[nodiscard]] Result<std::vector<GenericPlan>> make_generic_plans(const OpenModel& model, const TuneOptions& options,
                                                                  std::size_t most, Registry& registry,
                                                                  WorkerProcess& worker, const WorkFolder& folder,
                                                                  std::vector<std::string>& notes);

}  // namespace collage
