// The rivals of a tune: every engine on the user's file, and the fast ones on the simplified graph, each as a plan of
// one step.
// In:  the engines that take part. Out: a contest with rivals only.
// Cost: one compilation each, in the worker, unless the store has its artifact.
#pragma once

#include "tune/confirm/contest.h"
#include "tune/confirm/engine_compiler.h"

namespace collage {

/// Starts engines on the user's file where there are processors for it: before the model is recorded, which leaves all
/// but one of them idle.
[[nodiscard]] EngineCompiler compile_ahead(const TuneOptions& options, const Participants& who,
                                           const ImportedModel& model, const MeasureEnv& env);

/// Engines on the user's file, or on the simplified graph where they do not take the file. An engine that does not take
/// the model is a note. When time runs out one rival does: it is a plan that can ship.
/// The compiler may be at work for them; afterwards nobody compiles.
[[nodiscard]] Result<Contest> open_contest(const TuneTask& task, const MeasureEnv& env, EngineCompiler compiler);

/// Adds the engine whose numbers are the expected ones, on the imported graph, where its library takes part: for models
/// that enlarge what rounding differs by until no other engine keeps the bound. False when it does not compete.
[[nodiscard]] bool enter_reference(const TuneTask& task, const MeasureEnv& env, Contest& contest);

/// Adds engines on the simplified graph: those that the first contest did not find clearly slower than its winner.
void enter_on_simplified(const TuneTask& task, const MeasureEnv& env, Contest& contest);

}  // namespace collage
