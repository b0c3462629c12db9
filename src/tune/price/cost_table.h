// Prints every candidate with what is known about its time: what the search had to choose from.
// In:  the pool and costs. Out: a line for each candidate.
// Cost: linear.
#pragma once

#include <string>
#include <vector>

#include "region/candidates.h"
#include "region/cost.h"

namespace collage {

/// One line per candidate: microseconds with the middle half in brackets, `?` where nothing was measured, or why not;
/// then the candidate as in to_text(pool). `costs` by candidate.
[[nodiscard]] std::string cost_table(const Graph& graph, const CandidatePool& pool, const std::vector<Cost>& costs);

}  // namespace collage
