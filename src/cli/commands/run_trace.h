// Real runs of a plan as a trace that Perfetto and chrome://tracing open: a slice for each run, and in it one for each
// step.
// In:  a session with inputs; counters opened before the session's threads were started. Out: text in the trace event
//      format, JSON; times in microseconds since the first run.
// How: steps run one after the other on the caller's thread, so the end of one is the beginning of the next. Views take
//      no time and have no slice. A step's own threads are not shown apart; the counters of a step are those of all of
//      them, and the track "threads at work" is processor time in parts of the step's time.
// Source: the Trace Event Format of the Chromium project ("X" complete events, "C" counters, "M" metadata).
#pragma once

#include <stop_token>
#include <string>

#include "api/run/session.h"
#include "timing/counters.h"

namespace collage::cli {

/// Runs the session so many times. Errors: those of Session::run_profiled; session/cancelled.
[[nodiscard]] Result<std::string> traced(Session& session, int runs, const Counters& counters,
                                         const std::stop_token& cancel);

}  // namespace collage::cli
