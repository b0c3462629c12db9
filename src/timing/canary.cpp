#include "timing/canary.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"

namespace collage {
namespace {

constexpr std::chrono::milliseconds kPause{5};
constexpr int kFirstLooks = 500;

}  // namespace

/// Multiplications that wait for each other, so that only the clock counts. What other hardware threads of the core
/// take is no part of it: a computation that needs the core in every cycle doubles its time beside one, where most
/// kernels take up to a third longer.
std::int64_t Canary::work_ns() {
  std::uint64_t value = 3;
  const std::int64_t begin = monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    value *= value;
    asm volatile("" : "+r"(value));  // neither the value nor several steps at once are known beforehand
  }
  return std::max<std::int64_t>(1, monotonic_ns() - begin);
}

void Canary::learn(std::int64_t quiet_ns) {
  if (quiet_ns > 0) quiet_ns_ = quiet_ns_ == 0 ? quiet_ns : std::min(quiet_ns_, quiet_ns);
}

double Canary::slowness() {
  // The lesser of two: a single look may meet an interrupt.
  const std::int64_t now_ns = std::min(work_ns(), work_ns());
  if (quiet_ns_ == 0)
    for (int look = 0; look < kFirstLooks; ++look) learn(work_ns());
  learn(now_ns);
  return static_cast<double>(now_ns) / static_cast<double>(quiet_ns_);
}

void wait_for_quiet(Canary& canary, double most, std::int64_t& patience_ns) {
  while (patience_ns > 0 && canary.slowness() > most) {
    const std::int64_t begin = monotonic_ns();
    std::this_thread::sleep_for(kPause);
    patience_ns -= monotonic_ns() - begin;
  }
}

}  // namespace collage
