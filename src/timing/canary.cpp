#include "timing/canary.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "timing/latency_loop.h"

namespace collage {
namespace {

constexpr std::chrono::milliseconds kPause{5};
constexpr int kFirstLooks = 250;

}  // namespace

void Canary::learn(std::int64_t quiet_ns) {
  if (quiet_ns > 0) quiet_ns_ = quiet_ns_ == 0 ? quiet_ns : std::min(quiet_ns_, quiet_ns);
}

double Canary::slowness() {
  const std::int64_t now_ns = latency_loop_ns();
  if (quiet_ns_ == 0)
    for (int look = 0; look < kFirstLooks; ++look) learn(latency_loop_ns());
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
