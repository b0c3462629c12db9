// Uses the time that remains after a plan has won the first contest. Each part adds covers that may be better and
// enters them in another contest, as far as the budget allows.
//   schedules  searches the settings of tunable kernels for faster ones
//   context    corrects costs by what steps took inside the plans that were timed, and searches again
//   evolve     level 2: covers with engines' regions of any size
#pragma once

#include <string>

#include "tune/confirm/contest.h"
#include "tune/price/priced.h"
#include "tune/report/report.h"

namespace collage {

/// Takes the time of --tune-budget, which is set aside. Errors of searching, measuring and judge(), as of the others.
[[nodiscard]] Result<ScheduleReport> improve_schedules(const TuneTask& task, MeasureEnv& env, Priced& priced,
                                                       Contest& contest);

/// `stage` names the decisions of the clock.
[[nodiscard]] Result<void> improve_with_context(const TuneTask& task, const MeasureEnv& env, const std::string& stage,
                                                Priced& priced, Contest& contest);

/// The best evolved plan competes when it should win. Its regions are candidates from then on, so that level 1 and the
/// corrections learn from it.
[[nodiscard]] Result<void> evolve_covers(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest);

}  // namespace collage
