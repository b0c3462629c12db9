// Makes a plan again from the decisions of another one: nothing is searched and nothing is timed.
// In: a model, a plan. Out: a plan with the same decisions. What is not stored is compiled; every kernel is checked
// against the record of the reference run, and the outputs of the whole against the reference.
// Not here: deciding (tune.h), reading the decisions (plan_decisions.h).
// Cost: compiling what is not stored, and one run of each kernel.
// Source: replaying placements: v1 of Collage's placement files.
#pragma once

#include "tune/tune.h"

namespace collage {

/// `options.replay` on `options.model`. Backends, shapes, threads and accuracy are the plan's. Errors of reading the
/// plan, of the backends, of prepare(), cover_from_plan() and of the artifacts; tune/wrong-numbers.
[[nodiscard]] Result<TuneReport> replay(const TuneOptions& options, Registry& registry);

}  // namespace collage
