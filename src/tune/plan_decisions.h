// Turns a plan back into a cover of the graph for which it was made.
// In:  a plan, the simplified graph. Out: a cover with the plan's steps, or the first step that does not fit.
// Cost: linear in the plan.
// Not here: artifacts and the plan file (tune/replay.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "region/candidates.h"
#include "region/cover.h"

namespace collage {

/// The ways in which a backend runs a region of a graph now, with the labels that it offers them under; empty when it
/// refuses.
using VariantSource =
    std::function<Result<std::vector<Candidate>>(const Graph& graph, const std::string& backend, const Region& region)>;

/// The plan's steps as a cover of `graph`. Error plan/other-graph names the first step that does not fit the graph (a
/// node, operator, attribute, type or shape differs, or nodes are left over); plan/other-variant the first step whose
/// variant the backend no longer offers.
[[nodiscard]] Result<Cover> cover_from_plan(const Plan& plan, const Graph& graph, const VariantSource& variants);

}  // namespace collage
