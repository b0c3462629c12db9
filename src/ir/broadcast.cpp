#include "ir/broadcast.h"

#include <algorithm>

namespace collage {

std::optional<Extents> broadcast_extents(Extents a, Extents b) {
  const std::size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (a[axis] != b[axis] && a[axis] != 1 && b[axis] != 1) return std::nullopt;
    if (a[axis] == 1) a[axis] = b[axis];
  }
  return a;
}

}  // namespace collage
