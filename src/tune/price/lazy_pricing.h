// Prices a pool by measuring only what decides.
// In: a pool, who measures, forecasts of what was not measured. Out: measured costs; unknown for the rest.
// How: the search runs with forecasts in place of unknown costs and what the best cover uses is measured, until all of
//      it is: first for the backends that are quick to measure; then for all, with open-minded forecasts, that think
//      well of kinds of which little is known; then with expected ones, for all covers that will be confirmed, since
//      those of fewer backends show what the best of all misses.
//      Regions of a good part of the model are measured in any case: they are few, a sum of parts tells least of them,
//      and a wrong forecast could not be made good. Then every open computation is tried by itself: with its hopeful
//      cost, the others as expected, does the cover gain? Only then is it measured. Many are tried at once, which rules
//      most of them out with few searches: what does not gain together does not gain alone.
// Cost: what is measured; trials stay within a number of states that grows with what was measured.
// Not here: forecasts (cost_bounds.h), measuring itself (pricing.h).
// Source: Dellin and Srinivasa, A unifying formalism for shortest path problems with expensive edge evaluations
//         (LazySP), ICAPS 2016; optimism where little is known after Auer, Cesa-Bianchi and Fischer, Machine Learning
//         2002.
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
