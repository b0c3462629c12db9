// Whether a tensor that came at run time is of the shape that a type knows.
#pragma once

#include "ir/type.h"

namespace collage {

/// Same rank, no negative extent, and the type's extents where it has them. Everything fits a type of unknown rank.
[[nodiscard]] inline bool fits_shape(const ValueType& type, const Extents& extents) {
  if (!type.shape) return true;
  bool fits = type.shape->size() == extents.size();
  for (std::size_t d = 0; fits && d < extents.size(); ++d) {
    const Dim& dim = (*type.shape)[d];
    fits = extents[d] >= 0 && (!dim.is_static() || dim.extent == extents[d]);
  }
  return fits;
}

}  // namespace collage
