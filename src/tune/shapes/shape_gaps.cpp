#include "tune/shapes/shape_gaps.h"

#include <algorithm>

#include "tune/shapes/shape_samples.h"

namespace collage {
namespace {

bool contains_point(std::span<const PlannedPoint> points, const ShapePoint& point) {
  return std::ranges::any_of(points, [&](const PlannedPoint& one) { return one.point == point; });
}

/// No other point lies in the box of the two.
bool are_neighbours(std::span<const PlannedPoint> points, const ShapePoint& a, const ShapePoint& b) {
  return std::ranges::none_of(points, [&](const PlannedPoint& one) {
    const ShapePoint& c = one.point;
    if (c == a || c == b) return false;
    for (std::size_t d = 0; d < c.size(); ++d)
      if (c[d] < std::min(a[d], b[d]) || c[d] > std::max(a[d], b[d])) return false;
    return true;
  });
}

double ratio_of(const ShapePoint& a, const ShapePoint& b) {
  double ratio = 1;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const auto [low, high] = std::minmax(a[d], b[d]);
    if (low != high) ratio *= static_cast<double>(high) / static_cast<double>(std::max<std::int64_t>(1, low));
  }
  return ratio;
}

}  // namespace

bool have_equal_steps(const Plan& a, const Plan& b) {
  return std::ranges::equal(a.steps, b.steps, [](const PlanStep& x, const PlanStep& y) {
    return kind_name(x) == kind_name(y) && x.backend == y.backend && nodes_of(x).names == nodes_of(y).names;
  });
}

std::optional<ShapePoint> widest_gap(std::span<const PlannedPoint> points, std::span<const ShapePoint> tried) {
  std::optional<ShapePoint> best;
  double widest = 0;
  for (const PlannedPoint& a : points)
    for (const PlannedPoint& b : points) {
      if (!(a.point < b.point) || have_equal_steps(*a.plan, *b.plan) || !are_neighbours(points, a.point, b.point))
        continue;
      const auto middle = halfway(a.point, b.point);
      if (!middle || contains_point(points, *middle) || std::ranges::find(tried, *middle) != tried.end()) continue;
      if (ratio_of(a.point, b.point) <= widest) continue;
      widest = ratio_of(a.point, b.point);
      best = middle;
    }
  return best;
}

}  // namespace collage
