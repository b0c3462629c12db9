// The clock for deadlines and durations. It is monotonic, so setting the system time does not move a deadline.
#pragma once

#include <chrono>
#include <cstdint>

namespace collage {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Now, in nanoseconds since an unspecified start. Thread-safe.
[[nodiscard]] inline std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

/// The time after `wait`, or the last there is. `wait` is not negative.
[[nodiscard]] inline Clock::time_point later(Clock::duration wait) {
  const Clock::time_point now = Clock::now();
  return wait > Clock::time_point::max() - now ? Clock::time_point::max() : now + wait;
}

/// Microseconds, for people and reports.
[[nodiscard]] inline double to_us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

}  // namespace collage
