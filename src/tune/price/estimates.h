// What the user's estimator says of the candidates of a pool.
// In:  a pool, an estimator. Out: nanoseconds by candidate.
// Cost: a call of the estimator for each candidate that is no view.
// Not here: forecasts that start from estimates (cost_bounds.h).
#pragma once

#include <optional>
#include <vector>

#include "region/candidates.h"
#include "region/cost.h"
#include "tune/estimator.h"

namespace collage {

/// By candidate; nothing where the estimator cannot tell. Empty without an estimator.
using Estimates = std::vector<std::optional<double>>;

/// Error tune/bad-estimate when an estimate is no time, and those of the estimator.
[[nodiscard]] Result<Estimates> estimates_of(const EstimateOptions& options, const Graph& graph,
                                             const CandidatePool& pool);

/// Costs to begin with, by candidate: where estimates stand for costs they are there in place of an unknown one.
[[nodiscard]] std::vector<Cost> with_estimates(const EstimateOptions& options, const Estimates& estimates,
                                               std::vector<Cost> costs);

}  // namespace collage
