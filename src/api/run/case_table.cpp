#include "api/run/case_table.h"

#include <algorithm>

namespace collage {

CaseTable::CaseTable(const PlanCases& cases) : dimensions_(cases.domain.dimensions.size()), count_(cases.cases.size()) {
  for (const PlanCase& one : cases.cases) extents_.insert(extents_.end(), one.point.begin(), one.point.end());
}

std::size_t CaseTable::find(std::span<const std::int64_t> point) const noexcept {
  if (point.size() != dimensions_) return kNone;
  const auto row = [this](std::size_t i) { return extents_.data() + i * dimensions_; };
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const bool is_before =
        std::lexicographical_compare(row(middle), row(middle) + dimensions_, point.begin(), point.end());
    (is_before ? low : high) = is_before ? middle + 1 : middle;
  }
  return low < count_ && std::equal(point.begin(), point.end(), row(low)) ? low : kNone;
}

}  // namespace collage
