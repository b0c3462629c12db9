// Makes a plan from the decisions of another plan, without searching or timing.
// In:  a model, a plan. Out: a plan with the same decisions. What is not stored is compiled. Every kernel is checked
//       against the record of the reference run, and the outputs of the model against the reference.
// Cost: compiling what is not stored, and one run of each kernel.
// Not here: deciding (tune.h), reading the decisions (plan_decisions.h).
// Source: version 1 of Collage's placement files, which are replayed in the same way.
#pragma once

#include "tune/tune.h"

namespace collage {

/// `options.replay` on `options.model`. Backends, shapes, threads and accuracy are the plan's. Errors of reading the
/// plan, of the backends, of prepare(), cover_from_plan() and of the artifacts; tune/wrong-numbers.
[[nodiscard]] Result<TuneReport> replay(const TuneOptions& options, Registry& registry);

}  // namespace collage
