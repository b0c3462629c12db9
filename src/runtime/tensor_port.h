// Describes an input or output of a model: name, type, size.
#pragma once

#include <cstddef>
#include <string>

#include "ir/type.h"

namespace collage {

struct TensorPort {
  std::string name;
  ValueType type;         ///< element type and extents, those that are open as symbols
  std::size_t bytes = 0;  ///< 0 while an extent is open
};

}  // namespace collage
