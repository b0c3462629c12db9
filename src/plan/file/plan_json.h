// The plan as JSON, schema "collage.plan/1" or "collage.plan/2": the first member of a plan file, which tools read.
// Every field of Plan has a key; those of its report are at the top level too.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// Indented JSON text, keys sorted.
[[nodiscard]] std::string to_json(const Plan& plan);

/// Reads what to_json writes and verifies the plan. Errors: plan/wrong-version (another schema), plan/damaged (not
/// JSON, a missing key, a wrong type, a broken invariant); `label` names the file in them.
[[nodiscard]] Result<Plan> parse_plan(std::string_view json, const std::string& label);

}  // namespace collage
