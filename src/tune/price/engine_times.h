// The times of engines with the whole model, as costs of their candidates that are the whole graph.
// In:  what each engine took when it competed. Out: costs, as good as measured: a plan of that one step competes as the
//      engine does, where it is timed and judged, so that pricing has nothing to find out.
// Why: to run a large model a few times in a slow engine, and in the reference for its numbers on other inputs, takes
//      seconds that other candidates need.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "region/candidates.h"
#include "region/cost.h"

namespace collage {

/// Nanoseconds, by backend.
using EngineTimes = std::map<std::string, std::int64_t>;

/// For candidates that have no cost, compute in full precision and have plain ports: others may be faster.
void take_engine_times(const Graph& graph, const CandidatePool& pool, const EngineTimes& times,
                       std::vector<Cost>& costs);

}  // namespace collage
