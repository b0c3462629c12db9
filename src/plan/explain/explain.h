// Explains a plan as text: which backend runs what, its cost, the second best choice, refusals with reasons, and how
// good the whole plan is. In: a plan. Out: text for people, JSON for tools (schema "collage.explain/1",
// docs/schemas/explain.schema.json). Nothing is measured. Not here: single questions (plan/explain/why_not.h), the
// facts behind it (plan/explain/explanation.h).
#pragma once

#include <string>

#include "base/json_numbers.h"
#include "plan/plan.h"

namespace collage {

/// All steps, or with a name or a glob of names the steps that compute these nodes, what other backends offered for
/// them and what they refused. Error plan/no-such-node.
[[nodiscard]] Result<std::string> explain_as_text(const Plan& plan, const std::string& node = {});
/// `origin` is its key of this name, of which the plan itself knows nothing.
[[nodiscard]] Result<std::string> explain_as_json(const Plan& plan, const std::string& node = {},
                                                  const nlohmann::ordered_json& origin = nullptr);
/// Its key "plans": the other plans that were timed, the fastest first.
[[nodiscard]] nlohmann::ordered_json plans_as_json(const PlanReport& report);

}  // namespace collage
