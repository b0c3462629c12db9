// How much of the bound on a plan's outputs is due to the steps from some step on.
// In:  a plan, records of the model's inputs, outputs and of every value. Out: for each step asked about, how much of
//      the bound the error of the outputs takes when every value made before that step is as the reference recorded it.
// How: the values that the rest of the plan reads are overwritten with the recorded ones, and the rest runs. What the
//       outputs err then is the work of the steps from there on; the difference between two neighbouring steps is that
//       of the first of them, as far as errors of different steps are independent: their mean squares add up. They are
//       scaled so that the first step's effect is the share of the bound that the outputs take then.
// Cost: one run of the plan, and the rest of one for each step asked about.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "backend/registry.h"

namespace collage {

struct StepEffectsRequest {
  std::string plan;      ///< file of a plan of one shape
  std::string inputs;    ///< record with every model input by name
  std::string expected;  ///< record with every model output by name
  std::string values;    ///< record with every value of the plan's graph by name
  std::string accuracy;  ///< the bound (numbers/output_bound.h)
  int threads = 1;
  std::vector<std::uint32_t> steps;  ///< of the plan, ascending
};

/// By step. Errors of loading and running the plan, and of values that the record does not have.
[[nodiscard]] Result<std::vector<double>> step_effects_here(const StepEffectsRequest& request, Registry& registry);

// The same as a worker's job of type "step-effects".
[[nodiscard]] nlohmann::json to_json(const StepEffectsRequest& request);
[[nodiscard]] Result<StepEffectsRequest> step_effects_request_from(const nlohmann::json& json);

}  // namespace collage
