// Finds the nodes that err too much in 16 bits before any candidate is measured.
// In:  candidates in 16 bits. Out: priced.full_nodes: their candidates in 16 bits are out.
// How: what rounding does to the outputs depends little on which kernel rounds. A plan of kernels that are made quickly
// is
//      judged like one that shall ship, and the nodes that err most go back to full precision (output_check.h). The
//      budget then goes to candidates that can be in a plan inside the bound. The store keeps the answer for the same
//      tune.
// Cost: making the plan takes a share of the budget at most; judging it comes on top. Nothing where an engine that
// computes
//       in 16 bits is well inside the bound.
#pragma once

#include "tune/confirm/contest.h"
#include "tune/measure_env.h"
#include "tune/price/priced.h"
#include "tune/tune_task.h"

namespace collage {

/// Without time for the plan, all nodes keep full precision if the engine that computes in 16 bits is outside the
/// bound.
void try_narrow(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest);

}  // namespace collage
