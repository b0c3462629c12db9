// The decisions of a plan: as text to compare, and as a cover of the graph they were made for.
// In: a plan, the simplified graph. Out: a cover with the plan's steps, or the first step that does not fit.
// Not here: artifacts and the plan file (tune/replay.h).
// Cost: linear in the plan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "region/candidates.h"
#include "region/cover.h"

namespace collage {

/// What a plan decides, one line a step in order: kind, backend and variant, nodes, values with formats; the steps of
/// bodies below the step that holds them. Plans with
/// equal text run the same kernels on the same values in the same order.
[[nodiscard]] std::string decisions_text(const Plan& plan);

/// The ways in which a backend runs a region of a graph now, with the labels that it offers them under; empty when it
/// refuses.
using VariantSource =
    std::function<Result<std::vector<Candidate>>(const Graph& graph, const std::string& backend, const Region& region)>;

/// The decisions of a plan as a cover of `graph`. Error plan/other-graph names the first step that does not fit the
/// graph (a node, an operator, an attribute, a type or a shape differs, or nodes are left over); plan/other-variant the
/// first one whose variant the backend does not offer any more.
[[nodiscard]] Result<Cover> cover_from_plan(const Plan& plan, const Graph& graph, const VariantSource& variants);

}  // namespace collage
