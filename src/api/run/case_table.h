// Finds the case of a plan that serves a shape, when a session's shape changes.
// In:  the points of the cases. Out: for a point, the position of its case.
// How: binary search in one sorted array of extents. No allocation, no lock; tens of nanoseconds (bench/runtime).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "plan/plan_cases.h"

namespace collage {

class CaseTable {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Of verified cases.
  explicit CaseTable(const PlanCases& cases);

  /// Position among the cases, kNone when the point is none of them. `point` has the domain's dimensions.
  [[nodiscard]] std::size_t find(std::span<const std::int64_t> point) const noexcept;

 private:
  std::size_t dimensions_;
  std::size_t count_;
  std::vector<std::int64_t> extents_;  ///< count_ x dimensions_, in the order of the cases
};

}  // namespace collage
