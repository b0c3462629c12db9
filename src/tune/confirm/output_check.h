// Keeps plans with steps in 16 bits inside the bound on the model's outputs.
// In:  a plan made from a cover. Out: whether its outputs are inside on several sets of inputs; if not, the nodes whose
//      steps round less from then on (precision_limits.h): those that err most for the time they take; what the
//      winner's steps gain and err.
// How: the error of each narrow step is measured in the plan (step_effects.h). Squares of independent errors add up.
//      The next search keeps 16 bits away from these nodes.
// Cost: a run of the plan on each set of inputs; when it is outside, the rest of a run for each narrow step.
#pragma once

#include "tune/confirm/contest.h"
#include "tune/price/priced.h"

namespace collage {

/// Whether a step of the cover, or of its bodies, stores or computes numbers in 16 bits.
[[nodiscard]] bool has_narrow_step(const Cover& cover);

/// Whether a cover of these candidates may have such a step.
[[nodiscard]] bool has_narrow_candidate(const CandidatePool& pool);

/// Whether the plan's outputs are inside, with a reserve for inputs that were not tried (bound_share.h). A plan that
/// runs sets its share of the bound and writes its file. Errors of the worker. A stop does not end the check.
[[nodiscard]] Result<bool> keeps_bound(const TuneTask& task, const MeasureEnv& env, Contestant& contestant,
                                       Contest& contest);

/// Whether it may compete: it has no narrow step, or its outputs are inside. Why not is a note of the contest.
[[nodiscard]] bool is_inside(const TuneTask& task, const MeasureEnv& env, Contestant& contestant, Contest& contest);

/// What the winner errs, where it computes in 16 bits: as a note, and step by step in contest.precision. After most of
/// the budget the errors of the steps are not measured.
void explain_precision(const TuneTask& task, const MeasureEnv& env, const Priced& priced, Contest& contest);

[[nodiscard]] NodeSet all_nodes(std::size_t count);

/// After a plan that was outside: adds nodes to priced.limits, all when nothing else helps.
void limit_nodes(const TuneTask& task, const MeasureEnv& env, const Contestant& contestant, Priced& priced,
                 Contest& contest);

}  // namespace collage
