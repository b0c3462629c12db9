// The part of an explanation that concerns steps in 16 bits: what they gain, and what error they cost.
// In:  an explanation. Out: lines of text; objects of docs/schemas/explain.schema.json.
// Not here: how the errors are measured (tune/confirm/step_effects.h).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plan/explain/explanation.h"

namespace collage {

/// Null for a step of the plan in full precision.
[[nodiscard]] const ExplainedNarrowStep* narrow_step_at(const Explanation& explanation, std::size_t step);
/// "16 bits (f16): gains 12.0 us, 0.1 % of the bound on outputs".
[[nodiscard]] std::string to_text(const ExplainedNarrowStep& step);
[[nodiscard]] nlohmann::ordered_json to_ordered_json(const ExplainedNarrowStep& step);

/// What the whole plan errs, seen and predicted; "" for a plan without such steps.
[[nodiscard]] std::string precision_as_text(const Explanation& explanation);
/// Null for a plan without such steps.
[[nodiscard]] nlohmann::ordered_json precision_as_json(const Explanation& explanation);

}  // namespace collage
