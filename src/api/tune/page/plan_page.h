// A plan as one page of HTML: who takes the time, the graph of steps, memory, and what is known of each step.
// In:  a plan. Out: a file that needs nothing else: no network, no other file. A policy limits what its script may do.
// How: facts of the plan go into the page as JSON; plan.js draws them. Names are text there, whatever they hold.
// Cost: linear in the steps and in the explanation.
// Not here: the same as text and as JSON for tools (plan/explain/explain.h).
#pragma once

#include <string>

#include "plan/plan.h"

namespace collage {

[[nodiscard]] std::string plan_page(const Plan& plan);

}  // namespace collage
