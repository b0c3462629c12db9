#include "timing/latency_loop.h"

#include <algorithm>

#include "base/clock.h"

namespace collage {
namespace {

std::int64_t multiplications_ns() {
  std::uint64_t value = 3;
  const std::int64_t begin = monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    value *= value;
    asm volatile("" : "+r"(value));  // neither the value nor several steps at once are known beforehand
  }
  return std::max<std::int64_t>(1, monotonic_ns() - begin);
}

}  // namespace

std::int64_t latency_loop_ns() { return std::min(multiplications_ns(), multiplications_ns()); }

}  // namespace collage
