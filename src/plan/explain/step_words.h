// How a step of a plan is called in text and pictures: who runs it, and what it computes.
// In:  a step and the values around it. Out: words.
#pragma once

#include <cstddef>
#include <string>

#include "plan/plan.h"

namespace collage {

/// "backend/variant".
[[nodiscard]] std::string who(const PlanStep& step);

/// The names of its nodes, at most so many, "~" before those that another step computes as well; of a conversion the
/// value that it moves and between which formats.
[[nodiscard]] std::string what(const PlanBody& plan, const PlanStep& step, std::size_t most_names);

}  // namespace collage
