// Tests that draw at random take a small count by default and the full one when COLLAGE_LONG is set.
#pragma once

#include <cstdlib>

namespace collage::test {

template <class Count>
[[nodiscard]] Count by_length(Count usual, Count full) {
  return std::getenv("COLLAGE_LONG") != nullptr ? full : usual;
}

}  // namespace collage::test
