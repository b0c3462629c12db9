// The stage of a price job that times its candidates against each other, in interleaved rounds (sampling.h).
// In: candidates with trials. Out: their measured costs and samples; a refusal for one that fails or changes the
//     process while it is timed.
// Cost: a few milliseconds per cheap candidate.
#pragma once

#include <span>

#include "measure/price_run.h"

namespace collage {

/// Those without a trial are left out.
void time_candidates(PriceRun& run, std::span<JobCandidate> candidates);

}  // namespace collage
