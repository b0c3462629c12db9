// A plan of many shapes in words: its cases, who runs what in each, and who serves all other shapes.
// In: the cases. Out: text for people, JSON for tools (schema "collage.explain-cases/1"). Single cases: plan/explain.h.
#pragma once

#include <string>

#include "plan/plan_cases.h"

namespace collage {

[[nodiscard]] std::string explain_as_text(const PlanCases& cases);
[[nodiscard]] std::string explain_as_json(const PlanCases& cases);

}  // namespace collage
