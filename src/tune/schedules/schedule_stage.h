// Tunes kernels beyond the schedules that backends offer: the best known settings from earlier tunes become candidates,
// and a search over the whole setting spaces of the kernels that matter adds better ones.
// In:  a pool with costs, backends with tuning spaces (backend/strategy.h), a store. Out: more candidates, with costs.
// How: kernels of equal structure are treated as one. A kernel is tuned if the best cover would improve when it reached
//       its hoped-for time (hoped_gains.h); schedule_tuning.h divides the time among these. What was tried is stored
//       like all costs: the same question asked again takes no time, and one with a larger budget continues where the
//       smaller one ended.
// Cost: the given time.
// Source: see the parts.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "store/store.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/pricing.h"
#include "tune/report/report.h"

namespace collage {

/// What the stage reads and adds to. All outlive it.
struct ScheduleContext {
  const Graph& graph;
  Registry& registry;
  Store& store;
  Pricing& pricing;
  CandidatePool& pool;
  std::vector<Cost>& costs;  ///< by candidate of the pool; where shorter, the others are unknown
  CompileOptions compile;
};

/// Adds the fastest settings that the store knows of each kernel in the pool, where they beat what the store knows of
/// those offered. How many candidates that were. `costs` gets theirs and is as long as the pool afterwards.
std::size_t add_known_schedules(const ScheduleContext& context);

struct ScheduleSearch {
  double seconds = 0;
  std::string question;  ///< what the answer depends on beside costs
  std::uint64_t seed = 1;
  std::function<CoverRequest()> request;  ///< with the pool and the costs as they are
  const CostBounds* bounds = nullptr;
  Progress progress;
  std::stop_token stop;
};

/// Errors of searching and measuring.
[[nodiscard]] Result<ScheduleReport> tune_schedules(const ScheduleContext& context, const ScheduleSearch& search);

}  // namespace collage
