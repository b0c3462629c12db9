#include "tune/shapes/shape_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace collage {

void take_times(const std::vector<ConfirmLane>& lanes, PointTimes& times) {
  times.is_timed = true;
  const auto own = std::ranges::find_if(
      lanes, [](const ConfirmLane& lane) { return lane.lane.name == kCaseLane && lane.failure.empty(); });
  for (const ConfirmLane& lane : lanes) {
    if (!lane.failure.empty()) continue;
    const double us = static_cast<double>(lane.lane.median_ns()) / 1000;
    (lane.lane.name == kCaseLane ? times.case_us : times.generic_us[lane.lane.name]) = us;
    if (own != lanes.end() && lane.lane.name != kCaseLane)
      times.lead[lane.lane.name] = paired_ratio(own->lane, lane.lane).low;
  }
}

std::map<std::string, double> mean_times(std::span<const PointTimes> all) {
  std::map<std::string, double> means;
  std::vector<PointTimes> points;
  std::ranges::copy_if(all, std::back_inserter(points), &PointTimes::is_timed);
  if (points.empty()) return means;
  for (const auto& [name, unused] : points.front().generic_us) {
    if (!std::ranges::all_of(points, [&](const PointTimes& point) { return point.generic_us.contains(name); }))
      continue;
    double logs = 0;
    double weights = 0;
    for (const PointTimes& point : points) {
      logs += point.weight * std::log(std::max(1e-3, point.generic_us.at(name)));
      weights += point.weight;
    }
    means[name] = std::exp(logs / weights);
  }
  return means;
}

std::optional<std::string> fastest(const std::map<std::string, double>& times) {
  const auto found = std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; });
  if (found == times.end()) return std::nullopt;
  return found->first;
}

}  // namespace collage
