// Prices a pool of candidates by measuring only those that decide which covers are best.
// In:  a pool, a function that measures, forecasts for the rest. Out: measured costs; unknown for the rest.
// How: the search runs with forecasts in place of unknown costs; the candidates that the best cover uses are sampled,
//       by a few runs, until it contains no forecast. Only what the best cover then uses is measured, long steps first,
//       which again repeats until it contains no sample. Where measuring took less time than was kept for it, all of
//       this goes on.
//       Samples are taken in passes: of the cover that is expected to be best; of the best cover where what little is
//       known of is forecast with optimism, until that cover is hardly better than the best known one; of the covers
//       that are entered first. Before the second pass, algorithms are sampled that nobody has times of, because their
//       forecasts may be far off: each once that could compute much of a cover of single kernels. The best cover is
//       measured, its shortest steps only at the end. Then long regions are sampled, because a sum of parts forecasts
//       them badly, and each computation that was never run is tried at a hopeful cost while the others have their
//       expected costs. Many are tried in one search, because candidates that bring no gain together bring none alone,
//       those first that should save most; of those that may gain, several with different nodes are sampled at once.
//       Last come the covers that will be confirmed and may win. Kernels that have to be compiled come in the order of
//       what they should save in place of steps that are made at once. Where compiling the first of these covers takes
//       longer than there is time for samples, only the first of them are compiled, and the rest of it is made at once,
//       as far as it can be. As soon as a cover is known, something is sampled only if it should save enough in its
//       place: the mean saving over all times that the forecast leaves open, zero where it is not taken
//       (segment_savings.h).
// Example, without samples: A -> B, with candidates a1, a2, a3 for A and b1 for B, whose forecasts are 10, 12, 30 and
//   5 us.
//   search 1   best cover a1 b1 = 15   both are measured: a1 15 us, b1 5 us
//   search 2   best cover a2 b1 = 17   (a1 b1 is 20 now)   a2 is measured: 11 us
//   search 3   best cover a2 b1 = 16   contains no forecast
//   trial      a3 at its hopeful cost of 14 us: the best cover stays a2 b1, so a3 is never measured
// Cost: what is measured; the trials visit a number of states that grows with the number of measurements.
// Not here: forecasts (cost_bounds.h), measuring itself (pricing.h).
// Source: LazySP (Dellin and Srinivasa, ICAPS 2016); optimism where little is known after Auer, Cesa-Bianchi and
//       Fischer, Machine Learning 2002; expected improvement after Jones, Schonlau and Welch, Journal of Global
//       Optimization 1998.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "measure/jobs.h"
#include "measure/measure_options.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/covers.h"

namespace collage {

/// Who measures; called from the thread of price_lazily.
struct LazyMeasuring {
  /// One cost for each candidate asked for, sampled or measured as the effort says; unknown after a stop.
  std::function<Result<std::vector<Cost>>(const std::vector<std::size_t>& candidates, Effort effort)> candidates;
  /// Samples the conversions of the covers that are not, or measures those that cost at least `least_ns` and are only
  /// sampled; how many.
  std::function<Result<std::size_t>(const std::vector<NamedCover>& covers, Effort effort, std::int64_t least_ns)>
      conversions;
  /// Whether making the candidate's kernel takes long.
  std::function<bool(std::size_t candidate)> is_made_slowly = [](std::size_t) { return false; };
  /// What should save less than this part of the best cover's time is not sampled.
  double least_saving = MeasureLimits{}.least_saving;
  /// From then on nothing new is sampled: the time left is for measuring the best cover of what is known.
  std::function<bool()> is_sampling_over = [] { return false; };
  /// Seconds until then.
  std::function<double()> sampling_left_s = [] { return std::numeric_limits<double>::infinity(); };
  /// Asked when that cover is measured: whether so much time is left that sampling goes on for some of it.
  std::function<bool()> is_sampling_resumed = [] { return false; };
  /// The size of the largest regions that may be measured now: less than any after a deadline.
  std::function<std::size_t()> most_nodes;
  /// From then on nothing is measured: somebody wants an end,
  std::function<bool()> is_stopped;
  /// or there is no time for more.
  std::function<bool()> is_over;
  std::function<void(std::size_t measured)> progress;
  /// Whether half of the time is over, and who is told at the end what the best cover of candidates known by then costs
  /// and what the best cover costs: what the second half gained says what more time may bring.
  std::function<bool()> is_half_over = [] { return false; };
  std::function<void(std::int64_t halfway_ns, std::int64_t best_ns)> gained = [](std::int64_t, std::int64_t) {};
};

/// Costs by candidate of request.pool: measured or sampled. request.costs are those known before; empty means none. One
/// candidate of each computation is measured. When the time is over before a cover of measured candidates exists, the
/// candidates of regions that could still be measured get their expected costs. Errors of the search and of measuring.
[[nodiscard]] Result<std::vector<Cost>> price_lazily(CoverRequest request, CostBounds& bounds,
                                                     const LazyMeasuring& measuring);

}  // namespace collage
