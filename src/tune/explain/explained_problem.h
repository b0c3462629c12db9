// Adds to an explanation what choosing a cover again from its candidates takes: the values between nodes, the formats
// in which candidates take and leave them, and what conversions between these cost. In:  the graph, conversions; nodes
// and candidates that are explained. Out: the explanation's ExplainedProblem. Cost: for each value, the formats that it
// is made in times those that it is read in. Not here: choosing (tune/explain/what_if.h).
#pragma once

#include "plan/explain/explanation.h"
#include "region/candidates.h"
#include "search/search.h"

namespace collage {

/// `explanation` has its nodes, those of the graph in order, and its candidates.
void add_problem(const Graph& graph, const BoundaryTable& conversions, Nanoseconds launch_ns, Explanation& explanation);

}  // namespace collage
