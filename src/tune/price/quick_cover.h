// A cover that nothing was measured for, made within seconds.
// In:  candidates. Out: the best cover under forecast costs, without engines where others run a node, and without
//      compilers where others run it, in 16 bits if they do.
// Cost: one search.
#pragma once

#include "tune/measure_env.h"
#include "tune/price/priced.h"
#include "tune/tune_task.h"

namespace collage {

/// Errors of the search, such as that nobody runs a node.
[[nodiscard]] Result<SearchResult> quick_cover(const TuneTask& task, const MeasureEnv& env, Priced& priced);

}  // namespace collage
