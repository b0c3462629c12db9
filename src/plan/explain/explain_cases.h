// Explains a plan of many shapes as text: its cases, which backends run what in each, and which one serves all other
// shapes.
// In: the cases. Out: text for people, JSON for tools (schema "collage.explain-cases/1"). Single cases:
// plan/explain/explain.h.
#pragma once

#include <string>

#include "base/json_numbers.h"
#include "plan/plan_cases.h"

namespace collage {

[[nodiscard]] std::string explain_as_text(const PlanCases& cases);
[[nodiscard]] std::string explain_as_json(const PlanCases& cases, const nlohmann::ordered_json& origin = nullptr);

}  // namespace collage
