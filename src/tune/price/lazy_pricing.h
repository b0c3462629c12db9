// Prices a pool by measuring only the candidates that decide which covers are best.
// In: a pool, a function that measures, forecasts for the rest. Out: measured costs; unknown for the rest.
// How: the search runs with forecasts in place of unknown costs; what the best cover uses is measured; this repeats
// until the best cover has no forecast left. Three passes: over the backends that are quick to measure; over all,
// with optimistic forecasts for kinds of which little is known; over all covers that will be confirmed, with
// expected ones. Then long regions are measured in any case, because a sum of parts forecasts them badly. Last, each
// open computation is tried with its hopeful cost, the others as expected: only where the cover gains is it
// measured. Many are tried in one search, since what does not gain together does not gain alone.
// Example: A -> B with candidates a1, a2 for A and b1 for B, forecast 10, 12 and 5 us. The best cover is a1 b1; both
// are measured, 15 and 5 us. Now a2 is forecast cheaper, is measured, 11 us, and a2 b1 is the best cover with no
// forecast in it. A third candidate a3, forecast 30 us and hoped for at 14 us, cannot beat 11 us: it is never
// measured.
// Cost: what is measured; trials stay within a number of states that grows with what was measured.
// Not here: forecasts (cost_bounds.h), measuring itself (pricing.h).
// Source: LazySP (Dellin and Srinivasa, ICAPS 2016); optimism where little is known after Auer, Cesa-Bianchi and
// Fischer, Machine Learning 2002.
#pragma once

#include <functional>
#include <vector>

#include "tune/price/cost_bounds.h"
#include "tune/price/covers.h"

namespace collage {

/// Who measures; called from the thread of price_lazily.
struct LazyMeasuring {
  /// One cost for each candidate asked for, unknown after a stop.
  std::function<Result<std::vector<Cost>>(const std::vector<std::size_t>& candidates)> candidates;
  /// Measures the estimated conversions of the covers; how many there were.
  std::function<Result<std::size_t>(const std::vector<NamedCover>& covers)> conversions;
  /// Backends whose candidates take little time to measure: what their best cover uses comes first, so that a budget
  /// too short for all does not leave a plan that is worse than theirs. Empty: all are alike.
  std::vector<std::string> quick = {};
  /// The size of the largest regions that may be measured now: less than any after a deadline.
  std::function<std::size_t()> most_nodes;
  /// From then on nothing is measured: somebody wants an end,
  std::function<bool()> is_stopped;
  /// or there is no time for more.
  std::function<bool()> is_over;
  std::function<void(std::size_t measured)> progress;
};

/// By candidate of request.pool; request.costs are those known before, none if it is empty. Of candidates that are the
/// same computation one is measured. When the time is over what is expected of the regions that may still be measured
/// stands in for their costs, so that a cover exists. Errors of the search and of measuring.
[[nodiscard]] Result<std::vector<Cost>> price_lazily(CoverRequest request, CostBounds& bounds,
                                                     const LazyMeasuring& measuring);

}  // namespace collage
