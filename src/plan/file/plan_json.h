// The plan as JSON, schema "collage.plan/1": the first member of a plan file, what tools read.
// Every field of Plan has a key; report_json's keys stand beside them at the top level.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// Indented JSON text. Plan::report_json must be a JSON object that uses none of the plan's own keys.
[[nodiscard]] std::string to_json(const Plan& plan);

/// Reads what to_json writes and verifies the plan. Errors: plan/wrong-version (another schema), plan/damaged (not
/// JSON, a missing key, a wrong type, a broken invariant); `label` names the file in them.
[[nodiscard]] Result<Plan> parse_plan(std::string_view json, const std::string& label);

}  // namespace collage
