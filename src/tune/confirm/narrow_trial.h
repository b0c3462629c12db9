// Finds the nodes that err too much in 16 bits before any candidate is measured.
// In:  candidates in 16 bits. Out: priced.limits: the candidates that it forbids are out.
// How: what rounding does to the outputs depends little on which kernel rounds. A plan of kernels that are made quickly
//      is judged like one that shall ship, and the nodes that err most get limits (output_check.h); where it errs far
//      too much, all nodes may round in fixed point alone. The budget then goes to candidates that can be in a plan
//      inside the bound. The store keeps the answer for the same tune.
// Cost: making the plan takes a share of the budget at most; judging it comes on top. Nothing where an engine that
//       computes in 16 bits is well inside the bound.
#pragma once

#include "tune/confirm/contest.h"
#include "tune/measure_env.h"
#include "tune/price/priced.h"
#include "tune/tune_task.h"

namespace collage {

/// Without time for the plan, all nodes are limited if the engine that computes in 16 bits is outside the
/// bound.
void try_narrow(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest);

}  // namespace collage
