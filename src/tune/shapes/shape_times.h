// Compares engines with open dimensions at the sampled points with the plans made for these points, and selects the
// engine that serves all other points.
// In:  lanes of the measurement at each point. Out: the engine with the best geometric mean among those that were right
//       everywhere.
// Cost: a bootstrap for each pair of lanes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tune/confirm/confirm.h"

namespace collage {

/// Name of the lane of the point's own plan.
inline constexpr const char* kCaseLane = "the case";

/// Microseconds, end to end.
struct PointTimes {
  double weight = 1;
  bool is_timed = false;                     ///< beside the generic plans; false after a stop
  double case_us = 0;                        ///< 0 = it failed
  std::map<std::string, double> generic_us;  ///< of those that did not fail
  /// How many times faster than the case's plan each is at least (95 %).
  std::map<std::string, double> lead;
};

void take_times(const std::vector<ConfirmLane>& lanes, PointTimes& times);

/// Geometric mean by name over the points, weighted, of those that have a time at every point
/// that was timed.
[[nodiscard]] std::map<std::string, double> mean_times(std::span<const PointTimes> points);

/// The name with the least time; nothing when there is none.
[[nodiscard]] std::optional<std::string> fastest(const std::map<std::string, double>& times);

}  // namespace collage
