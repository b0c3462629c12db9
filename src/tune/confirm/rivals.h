// The rivals of a tune: every engine on the user's file and on the simplified graph, each as a plan of one step.
// In:  the engines that take part. Out: a contest with rivals only.
// Cost: one compilation each, in the worker, unless the store has its artifact.
#pragma once

#include "tune/confirm/contest.h"

namespace collage {

/// An engine that does not take the model is a note. When time runs out one rival does: it is a plan that can ship.
[[nodiscard]] Result<Contest> open_contest(const TuneTask& task, const MeasureEnv& env);

}  // namespace collage
