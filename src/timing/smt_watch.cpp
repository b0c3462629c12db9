#include "timing/smt_watch.h"

#include <algorithm>
#include <utility>

#include "timing/latency_loop.h"

namespace collage {
namespace {

/// A ratio that is larger than the least one by this factor tells of another thread; 1.5 to 2 are seen beside one.
constexpr double kSharedFactor = 1.25;
/// Of a few hundred looks one meets a core that is not shared, if there is any such time.
constexpr int kLooksAtFirst = 300;
constexpr std::int64_t kLongestWaitNs = 10'000'000;
constexpr std::int64_t kFirstPatienceNs = 20'000'000;
constexpr std::int64_t kPatienceShare = 10;

/// Of one addition and a jump in each cycle.
std::int64_t front_end_loop_ns() {
  std::uint64_t value = 1;
  const std::int64_t begin = monotonic_ns();
#pragma GCC unroll 1
  for (int i = 0; i < 2000; ++i) {
    value += 3;
    asm volatile("" : "+r"(value));  // neither the value nor several steps at once are known beforehand
  }
  return monotonic_ns() - begin;
}

/// The front end's time, the lesser of two looks, in parts of a time in which it has little to do.
double measured_ratio() {
  const std::int64_t front_end_ns = std::max<std::int64_t>(1, std::min(front_end_loop_ns(), front_end_loop_ns()));
  return static_cast<double>(front_end_ns) / static_cast<double>(latency_loop_ns());
}

}  // namespace

SmtWatch::SmtWatch() : SmtWatch(measured_ratio) {}

SmtWatch::SmtWatch(std::function<double()> look, std::function<std::int64_t()> now_ns)
    : look_(std::move(look)), now_ns_(std::move(now_ns)), least_(look_()), made_ns_(now_ns_()) {
  for (int seen = 1; seen < kLooksAtFirst; ++seen) least_ = std::min(least_, look_());
}

bool SmtWatch::is_shared() {
  const double ratio = look_();
  least_ = std::min(least_, ratio);
  return ratio > kSharedFactor * least_;
}

bool SmtWatch::wait_until_alone() {
  const std::int64_t begin_ns = now_ns_();
  const std::int64_t patience_ns = kFirstPatienceNs + (begin_ns - made_ns_) / kPatienceShare - waited_ns_;
  const std::int64_t end_ns = begin_ns + std::min(kLongestWaitNs, patience_ns);
  bool is_alone = !is_shared();
  while (!is_alone && now_ns_() < end_ns) is_alone = !is_shared();
  waited_ns_ += now_ns_() - begin_ns;
  return is_alone;
}

}  // namespace collage
