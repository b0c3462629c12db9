// Gathers the facts for the explanation of a plan from the result of its tune.
// In:  a TuneResult, bounds. Out: ExplainInputs.
// Not here: the explanation itself (explanation.h).
#pragma once

#include "tune/explain/explanation.h"
#include "tune/tune_result.h"

namespace collage {

/// Valid as long as what the result refers to.
[[nodiscard]] ExplainInputs explain_inputs(const TuneResult& result, const CoverBounds& bounds);

}  // namespace collage
