#include "timing/canary.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "timing/sampling.h"

namespace collage {
namespace {

constexpr std::chrono::milliseconds kPause{5};
constexpr int kFirstLooks = 500;

}  // namespace

/// Multiplications and additions, many in flight at once, so that the processor's units and its clock are what counts.
std::int64_t Canary::work_ns() const {
  std::array<float, 32> sums = {};
  const std::int64_t begin = monotonic_ns();
  for (int repeat = 0; repeat < 12; ++repeat)
    for (std::size_t i = 0; i < table_.size(); i += sums.size())
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = sums[k] * 0.5F + table_[i + k];
  const std::int64_t elapsed = monotonic_ns() - begin;
  const volatile float keep = sums[0];  // a result that is not read might not be computed
  static_cast<void>(keep);
  return std::max<std::int64_t>(1, elapsed);
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
