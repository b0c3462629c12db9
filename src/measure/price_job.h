// The price and prepare jobs: compile, verify, then time the candidates of one region or one conversion. A candidate is
// timed only if its outputs matched the record and the reference's results on the other input sets (input_sets.h), here
// or in another worker before. It is verified again after timing: on the record, and on one other set where this job
// has made them. Most candidates turn out to be slow: a sample of a few runs, after a check against the record alone,
// tells that at a fraction of the cost.
#pragma once

#include "measure/jobs.h"
#include "measure/workbench.h"

namespace collage {

/// One answer per candidate, in order. An Error is about the job itself (files that cannot be read); whatever a
/// candidate does wrong is its refusal.
[[nodiscard]] Result<PriceAnswer> run_price_job(const PriceJob& job, Workbench& bench, JobContext& context);

}  // namespace collage
