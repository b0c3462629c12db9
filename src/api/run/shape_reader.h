// Determines the point of a plan's shape domain from the extents of its inputs, before a run with another shape.
// In:  the extents of all inputs. Out: one extent for each dimension of the domain.
// How: the position at which each dimension is read is computed once; reading then compares integers and allocates
//       nothing.
// Example: inputs x f32[batch,3] and y f32[batch,seq] of the domain batch=1..8, seq=16..128; the extents [2,3] and
// [2,64] are the point (2, 64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan_cases.h"

namespace collage {

class ShapeReader {
 public:
  explicit ShapeReader(const PlanCases& cases);

  /// Writes the point; false when the extents do not fit the inputs. Where the plan has no domain but open inputs, the
  /// "point" is all extents, one input after the other. `point` keeps its capacity.
  [[nodiscard]] bool read(std::span<const Extents> inputs, ShapePoint& point) const;

 private:
  /// Axis of an input: a fixed extent, a dimension of the domain, or free: only where there is no domain.
  struct Axis {
    enum class Kind : std::uint8_t { kFixed, kDimension, kFree };
    Kind kind = Kind::kFree;
    std::int64_t extent = 0;    ///< kFixed
    std::size_t dimension = 0;  ///< kDimension: of the domain
  };

  [[nodiscard]] bool read_axis(const Axis& axis, std::int64_t extent, ShapePoint& point) const;

  std::vector<std::vector<Axis>> inputs_;
  std::size_t dimensions_;
};

/// Why the extents of inputs are no point of the plan's domain. Errors: input/wrong-count, input/wrong-shape,
/// shape/outside.
[[nodiscard]] Result<ShapePoint> point_of_inputs(const PlanCases& cases, std::span<const Extents> inputs);

}  // namespace collage
