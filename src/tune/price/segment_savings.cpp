#include "tune/price/segment_savings.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tune/price/normal_distribution.h"

namespace collage {
namespace {

struct ComparedSegment {
  NodeSet nodes;
  double known_ns = 0;
  double hoped_ns = 0;
  double variance = 0;
  std::set<std::uint32_t> computations = {};  ///< that are forecast
};

/// A segment, and all that share nodes with it, become one.
void join(std::vector<ComparedSegment>& segments, ComparedSegment joined) {
  std::erase_if(segments, [&](const ComparedSegment& other) {
    if (!other.nodes.intersects(joined.nodes)) return false;
    joined.nodes |= other.nodes;
    joined.known_ns += other.known_ns;
    joined.hoped_ns += other.hoped_ns;
    joined.variance += other.variance;
    joined.computations.insert(other.computations.begin(), other.computations.end());
    return true;
  });
  segments.push_back(std::move(joined));
}

double time_of(const CoverStep& step) { return static_cast<double>(nanoseconds_of(step.cost).value_or(0)); }

ComparedSegment hoped_segment(const CoverStep& step, const NodeSet& nodes, const FindForecast& forecast) {
  const auto found = forecast(step);
  if (!found) return {.nodes = nodes, .hoped_ns = time_of(step)};
  return {.nodes = nodes,
          .hoped_ns = found->mean_ns,
          .variance = found->deviation_ns * found->deviation_ns,
          .computations = {found->computation}};
}

/// The mean of a normal distribution above zero.
double mean_above_zero(double mean, double variance) {
  if (variance <= 0) return std::max(mean, 0.0);
  const double deviation = std::sqrt(variance);
  const double x = mean / deviation;
  return mean * normal_probability_below(x) + deviation * normal_density(x);
}

}  // namespace

std::map<std::uint32_t, SegmentSaving> segment_savings(const Cover& known, const Cover& hoped,
                                                       const FindForecast& forecast) {
  std::vector<ComparedSegment> segments;
  for (const CoverStep& step : known.steps)
    if (const Region* const region = chosen_region(step))
      join(segments, {.nodes = region->nodes, .known_ns = time_of(step)});
  for (const CoverStep& step : hoped.steps)
    if (const Region* const region = chosen_region(step)) join(segments, hoped_segment(step, region->nodes, forecast));
  std::map<std::uint32_t, SegmentSaving> savings;
  for (const ComparedSegment& segment : segments) {
    const double saving_ns = mean_above_zero(segment.known_ns - segment.hoped_ns, segment.variance);
    for (const std::uint32_t computation : segment.computations) {
      savings[computation].ns += saving_ns;
      savings[computation].share_ns += saving_ns / static_cast<double>(segment.computations.size());
    }
  }
  return savings;
}

}  // namespace collage
