// Which case of a plan serves a shape: asked before every run whose shape is another than the last one's.
// In: the points of the cases. Out: the position of the case for a point.
// How: the points lie in one sorted array of extents, searched by halves. No allocation, no lock.
// Cost: some ten nanoseconds (bench/runtime).
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
