// Holds contests: times the plans that compete, end to end, until one has won.
// In:  a contest with plans. Out: its winner, the times of all; the winner's plan on disk.
// How: the engines alone come first, so that a plan as fast as they are exists within seconds. The store answers a
//      question that was asked before.
// Cost: that of the rounds (guard.h); none when the store already has the verdict.
#pragma once

#include <string>

#include "tune/confirm/contest.h"

namespace collage {

/// How the plans of this tune are timed. `quiet_ns` is the canary's, from pricing.
[[nodiscard]] GuardOptions guard_options(const TuneTask& task, const MeasureEnv& env, std::int64_t quiet_ns);

/// Writes the plan's file unless it is there.
[[nodiscard]] Result<void> write_plan_file(const MeasureEnv& env, Contestant& contestant, Contest& contest);

/// Times all that compete, or recalls the verdict on the same question. A stop cuts the rounds short, not the checks of
/// numbers. The plan of a new winner is saved at once, so that whatever ends the tune leaves it. Errors
/// tune/nothing-runs; tune/over-memory when all plans are over the cap; of writing the plans.
[[nodiscard]] Result<void> judge(const TuneTask& task, const MeasureEnv& env, std::int64_t quiet_ns, Contest& contest);

/// The same once covers compete, unless the contest of the engines alone took all of the budget: its winner then ships.
[[nodiscard]] Result<void> judge_covers(const TuneTask& task, const MeasureEnv& env, std::int64_t quiet_ns,
                                        Contest& contest);

/// A short contest of the engines before anything else is measured: the fastest is the plan until a better one is
/// confirmed. Where none gives the right numbers the reference competes, too. Tells the budget how long contests take.
/// Nothing where no engine may ship.
[[nodiscard]] Result<void> judge_engines(const TuneTask& task, const MeasureEnv& env, Contest& contest);

/// Whether another contest, if it takes as long as the last one, ends within the budget. `stage`: what it is for.
[[nodiscard]] bool may_judge_again(const MeasureEnv& env, const std::string& stage, Contest& contest);

}  // namespace collage
