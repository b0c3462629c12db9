// Chooses the points of a shape domain that get a plan of their own.
// In:  the domain, points that the user asks for. Out: points with weights.
// How: a geometric series between the bounds of each dimension, both included (1..8: 1, 2, 4, 8), thinned evenly,
//       longest series first, until the grid of all has few enough points. The user's points are added.
// Source: doubling sizes, as the buckets of serving systems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/shape_domain.h"

namespace collage {

struct ShapeSample {
  ShapePoint point;
  double weight = 1;      ///< its share of the budget, against the others'
  bool is_asked = false;  ///< by the user
  bool operator==(const ShapeSample&) const = default;
};

/// "batch=4,seq=64" or "batch=4,seq=64:3", a point with weight 3. Errors (usage): shape/malformed, shape/twice, and
/// those of point_of.
[[nodiscard]] Result<ShapeSample> parse_sample(const ShapeDomain& domain, const std::string& text);

/// Doubling from low to high; after 0 comes 1. Ends included, at most `most` (2 or more) of them, evenly chosen.
[[nodiscard]] std::vector<std::int64_t> ladder(const DimensionRange& range, std::size_t most);

/// The grid of the ladders, at most `most` points, and the points asked for; sorted by point, each once. A point that
/// is asked for twice, or is of the grid too, has the weight asked for last.
[[nodiscard]] std::vector<ShapeSample> choose_samples(const ShapeDomain& domain, const std::vector<ShapeSample>& asked,
                                                      std::size_t most);

/// The point halfway between two that differ in one dimension, nothing when there is none between or they differ in
/// more.
[[nodiscard]] std::optional<ShapePoint> halfway(const ShapePoint& a, const ShapePoint& b);

}  // namespace collage
