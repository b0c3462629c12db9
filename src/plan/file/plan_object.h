// The parsed JSON of a plan.json; internal to src/plan/file.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"

namespace collage {

/// parse_plan() of its text.
[[nodiscard]] Result<Plan> read_plan(const nlohmann::json& object, const std::string& label);

}  // namespace collage
