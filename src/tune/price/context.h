// Correction factors for the costs of steps inside a plan, learned from plans that were timed step by step. A step that
// is measured alone finds its weights and inputs in the caches. In a plan other steps have used the caches in between,
// which slows down some kinds of step more than others.
// In:  covers with the times of their steps, alone and inside the plan. Out: factors by kind of step.
// Example: if three convolutions of one backend take 110, 220 and 55 us inside plans and 100, 200 and 50 us alone, the
// costs of all convolutions of that backend are multiplied by 1.1 in the next search.
// Cost: linear in the steps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "region/candidates.h"
#include "region/cost.h"
#include "region/cover.h"

namespace collage {

/// Factor on costs measured alone, by class.
using Corrections = std::map<std::string, double>;

/// The classes a candidate belongs to, narrow ones first: backend, variant and size of the weights; backend and size;
/// backend.
[[nodiscard]] std::vector<std::string> context_classes(const Graph& graph, const Region& region,
                                                       const std::string& backend, const std::string& variant);

/// Of the narrowest class that is known; 1 when none is.
[[nodiscard]] double factor_of(const Corrections& corrections, const std::vector<std::string>& classes);

/// `costs`, by candidate of the pool, with the measured ones scaled by their class.
[[nodiscard]] std::vector<Cost> corrected_costs(const Graph& graph, const CandidatePool& pool, std::vector<Cost> costs,
                                                const Corrections& corrections);

/// A cover and what its steps took in a plan.
struct TimedCover {
  const Cover* cover = nullptr;
  std::vector<std::int64_t> step_ns;
  Corrections applied;  ///< already, to the costs of its steps
};

/// Time in plans over time alone, over all kernels of a class with a measured cost; between 0.5 and 3.
[[nodiscard]] Corrections learn_corrections(const Graph& graph, const std::vector<TimedCover>& covers);

}  // namespace collage
