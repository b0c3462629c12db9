// The end of a tune: the winner of the contest as a plan file with its report and its explanation.
// In: a contest with a winner, the pool with its costs. Out: a Shipped.
// Cost: one search for the proven bound where candidates were not measured, a few for alternatives; kernels for
// processors with fewer instructions, after the budget, where backends have such.
#pragma once

#include "tune/confirm/contest.h"
#include "tune/price/priced.h"
#include "tune/report.h"

namespace collage {

struct Shipped {
  RealisedPlan plan;
  TuneReport report;
};

/// Errors of searching; those of single kernels are notes.
[[nodiscard]] Result<Shipped> ship(const TuneTask& task, MeasureEnv& env, const ScheduleReport& schedules,
                                   Priced& priced, Contest& contest);

}  // namespace collage
