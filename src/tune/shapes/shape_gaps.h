// Finds where a domain of shapes needs another sampled point: between neighbours whose plans run the nodes on different
// backends.
// In:  points with their plans. Out: the middle of the widest such gap.
// Cost: cubic in the number of points, which is small.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/shape_domain.h"
#include "plan/plan.h"

namespace collage {

struct PlannedPoint {
  ShapePoint point;
  const Plan* plan = nullptr;
};

/// The same backends compute the same nodes in the same order.
[[nodiscard]] bool have_equal_steps(const Plan& a, const Plan& b);

/// The point halfway between two neighbours on a line parallel to an axis whose plans differ; of several pairs the one
/// whose extents are the farthest apart by ratio. Neither one of `points` nor of `tried`. Nothing when there is none.
[[nodiscard]] std::optional<ShapePoint> widest_gap(std::span<const PlannedPoint> points,
                                                   std::span<const ShapePoint> tried);

}  // namespace collage
