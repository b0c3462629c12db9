// Makes a plan again from the decisions of another one: nothing is searched and nothing is timed.
// In: a model, a plan. Out: a plan with the same decisions. What is not stored is compiled; every kernel is checked
// against the record of the reference run, and the outputs of the whole against the reference.
// Not here: deciding (tune.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "tune/tune.h"

namespace collage {

/// What a plan decides, one line a step in order: kind, backend and variant, nodes, values with formats. Plans with
/// equal text run the same kernels on the same values in the same order.
[[nodiscard]] std::string decisions_text(const Plan& plan);

/// The ways in which a backend runs a region now; empty when it refuses.
using VariantSource = std::function<Result<std::vector<Variant>>(const std::string& backend, const Region& region)>;

/// The decisions of a plan as a cover of `graph`. Error plan/other-graph names the first step that does not fit the
/// graph (a node, an operator, an attribute, a type or a shape differs, or nodes are left over); plan/other-variant the
/// first one whose variant the backend does not offer any more.
[[nodiscard]] Result<Cover> cover_from_plan(const Plan& plan, const Graph& graph, const VariantSource& variants);

/// `options.replay` on `options.model`. Backends, shapes, threads and accuracy are the plan's. Errors of reading the
/// plan, of the backends, of prepare(), cover_from_plan() and of the artifacts; tune/wrong-numbers.
[[nodiscard]] Result<TuneReport> replay(const TuneOptions& options, Registry& registry);

}  // namespace collage
