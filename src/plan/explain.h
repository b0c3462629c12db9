// A plan in words: who runs what, what it cost, what came second, who refused and why.
// In: a plan. Out: text for people, JSON (schema "collage.explain/1") for tools. Nothing is measured.
#pragma once

#include <string>

#include "plan/plan.h"

namespace collage {

/// All steps, or with a name the step that computes this node and what the backends said to it alone.
/// Error plan/no-such-node.
[[nodiscard]] Result<std::string> explain_as_text(const Plan& plan, const std::string& node = {});
[[nodiscard]] Result<std::string> explain_as_json(const Plan& plan, const std::string& node = {});

}  // namespace collage
