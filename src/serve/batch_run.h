// Runs requests in a session: one alone, or several joined along their first axis.
// In:  requests whose inputs fit the plan. Out: their outputs or errors.
// How: inputs are copied once, from the body of the request to the session's memory; outputs once out of it. If a run
//       of several requests fails, each runs alone, so that one request's bad index fails only that request.
// Threads: one session, one thread.
#pragma once

#include <span>

#include "api/run/loaded_plan.h"
#include "serve/batch_rule.h"
#include "serve/pending_request.h"

namespace collage {

/// Runs them and fills in outputs or error of each, never both. The deadline is one for all runs that this takes.
void run_batch(const LoadedPlan& plan, Session& session, std::span<PendingRequest* const> batch,
               const RunOptions& options = {});

/// Whether rows that are computed together come out as alone: runs the plan on generated inputs, small ones beside
/// large ones, which takes three runs, and three more if the model refuses large ones. False also when they cannot be
/// run so.
[[nodiscard]] bool rows_are_independent(const LoadedPlan& plan, Session& session, const BatchRule& rule);

}  // namespace collage
