// The keys of plan.json that hold the report, and those of the explanation in it; internal to src/plan.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/plan_report.h"

namespace collage {

/// An object with the keys search, rivals, plans and explanation.
[[nodiscard]] nlohmann::json report_to_json(const PlanReport& report);
/// The report among the keys of plan.json; nothing when the plan has none. What is malformed counts as left out:
/// a plan runs without it.
[[nodiscard]] std::optional<PlanReport> report_from_json(const nlohmann::json& plan);

/// The value of key "explanation" of plan.json, keys sorted.
[[nodiscard]] nlohmann::json explanation_to_json(const Explanation& explanation);
/// Reads what explanation_to_json() makes; positions are checked. Error plan/no-explanation when it has another form.
[[nodiscard]] Result<Explanation> explanation_from_json(const nlohmann::json& object, const std::string& label);

}  // namespace collage
