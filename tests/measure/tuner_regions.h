// The regions of the small graph that tuners in tests measure: all of different structure.
#pragma once

#include <cstddef>
#include <vector>

namespace collage::test {

inline const std::vector<std::vector<std::size_t>>& tuner_regions() {
  static const std::vector<std::vector<std::size_t>> regions = {{0},    {2},       {0, 1},    {1, 2},
                                                                {2, 3}, {0, 1, 2}, {1, 2, 3}, {0, 1, 2, 3}};
  return regions;
}

}  // namespace collage::test
