// Makes plans of the best covers and enters them in a contest.
// In:  a Priced, corrections of its costs. Out: Covers; contestants.
// How: when an artifact of a cover does not work, or its plan needs more memory than the search assumed, that is
//       reported to the pricing and the search runs again.
// Not here: the search (tune/price/covers.h), timing (contest.h).
#pragma once

#include <string>
#include <vector>

#include "tune/confirm/contest.h"
#include "tune/price/priced.h"

namespace collage {

struct Covers {
  std::vector<NamedCover> covers;
  Corrections corrections = {};  ///< that were applied to the costs
};

/// The covers worth a plan, the best first; with best_alone none of fewer backends. Errors of the search.
[[nodiscard]] Result<Covers> choose_covers(const TuneTask& task, const MeasureEnv& env, Corrections corrections,
                                           bool best_alone, const Priced& priced);

/// Chooses covers and lets plans of those that are new compete. Without a cover a note says why. `stage` names the
/// decisions of the clock: covers that came too late are left out.
void enter_covers(const TuneTask& task, const MeasureEnv& env, const std::string& stage, const Corrections& corrections,
                  Priced& priced, Contest& contest);

/// A cover as a plan, with its bodies' steps. Errors tune/no-artifact, tune/no-time, tune/over-memory, and those of
/// assemble().
[[nodiscard]] Result<Contestant> contestant_of(const TuneTask& task, const MeasureEnv& env, const std::string& name,
                                               Cover cover, const ArtifactLimits& limits, Priced& priced,
                                               Contest& contest);

/// After a stop that came before every operator had somebody to run it.
[[nodiscard]] std::string what_the_stop_left(const Priced& priced);

}  // namespace collage
