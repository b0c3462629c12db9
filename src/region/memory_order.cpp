#include "region/memory_order.h"

#include <numeric>

namespace collage {

std::vector<std::size_t> memory_order(std::size_t rank, const Format& format) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (format.full().is_channels_last() && rank >= 3) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  }
  return order;
}

}  // namespace collage
