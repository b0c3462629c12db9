// A cost estimator from outside: what a function of the user's knows about the time of a candidate.
// In:  a candidate. Out: nanoseconds, or nothing when it cannot tell.
// Estimates decide what is measured or, where the user wants that, stand for measured costs. They never decide which
// plan ships: numbers are checked and whole plans are timed in any case.
// Source: user-defined cost functions of Collage (Jeon et al., PACT 2022); CostEstimator of TVM's RFC 62.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "backend/backend.h"
#include "base/error.h"
#include "base/json.h"
#include "region/candidates.h"

namespace collage {

/// Called from the thread of the tune, once for each candidate. An error ends the tune.
using Estimator =
    std::function<Result<std::optional<double>>(const Graph& graph, const Region& region, const Candidate& candidate)>;

enum class EstimateUse : std::uint8_t {
  kForecast,  ///< candidates are measured in the order that the estimates suggest; times correct them
  kCost       ///< candidates with an estimate are not measured
};

struct EstimateOptions {
  Estimator estimator;  ///< empty = none
  EstimateUse use = EstimateUse::kForecast;

  [[nodiscard]] bool stand_for_costs() const { return estimator && use == EstimateUse::kCost; }
};

/// A candidate as estimators outside of C++ are told of it: docs/schemas/candidate.schema.json.
[[nodiscard]] Json candidate_json(const Graph& graph, const Region& region, const Candidate& candidate,
                                  const CompileOptions& options);

}  // namespace collage
