// What the explanation of a plan is made of, gathered from what its tune ended with.
// In: a TuneResult, bounds. Out: ExplainInputs.
// Not here: the explanation itself (explanation.h).
#pragma once

#include "tune/explain/explanation.h"
#include "tune/tune_result.h"

namespace collage {

/// Valid as long as what the result refers to.
[[nodiscard]] ExplainInputs explain_inputs(const TuneResult& result, const CoverBounds& bounds);

}  // namespace collage
