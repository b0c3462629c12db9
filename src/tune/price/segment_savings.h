// What the steps of one cover should save in place of those of another, by computation.
// In:  two covers of a graph; which steps of the second are forecast. Out: for each such computation, the saving that
//       is expected of the segments in which it is used.
// How: a segment is a smallest set of nodes that both covers divide into whole steps. What it saves is uncertain as its
//       forecasts are; where it turns out to save nothing it is not taken. So the mean of what is saved counts, over
//       all times that the forecasts leave open. Conversions between segments are left out.
// Cost: quadratic in the steps.
// Source: expected improvement, Jones, Schonlau and Welch, Journal of Global Optimization 1998.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "region/cover.h"

namespace collage {

/// A time that was not measured, in nanoseconds.
struct ForecastStep {
  std::uint32_t computation = 0;  ///< the same for steps that are the same computation
  double mean_ns = 0;
  double deviation_ns = 0;
};
/// Nothing for steps whose time is known.
using FindForecast = std::function<std::optional<ForecastStep>(const CoverStep& step)>;

/// In nanoseconds, of the segments in which a computation is used.
struct SegmentSaving {
  double ns = 0;
  double share_ns = 0;  ///< where what a segment saves is shared equally by the computations that are forecast there
};

/// By computation.
[[nodiscard]] std::map<std::uint32_t, SegmentSaving> segment_savings(const Cover& known, const Cover& hoped,
                                                                     const FindForecast& forecast);

}  // namespace collage
