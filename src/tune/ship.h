// The last stage of a tune: writes the winner of the contest as a plan file, with its report and explanation.
// In:  a contest with a winner, the pool with its costs. Out: a Shipped.
// Cost: one search for the proven bound when some candidates were not measured, a few for alternatives. After the
//       budget, backends that can compile for processors with fewer instructions do so.
#pragma once

#include "tune/confirm/contest.h"
#include "tune/price/priced.h"
#include "tune/report/report.h"

namespace collage {

struct Shipped {
  RealisedPlan plan;
  TuneReport report;
};

/// Errors of searching; those of single kernels are notes.
[[nodiscard]] Result<Shipped> ship(const TuneTask& task, MeasureEnv& env, const ScheduleReport& schedules,
                                   Priced& priced, Contest& contest);

}  // namespace collage
