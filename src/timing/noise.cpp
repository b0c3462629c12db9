#include "timing/noise.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace collage {
namespace {

/// A preemption counts when it took more than this share of the time.
constexpr double kShare = 0.005;

std::int64_t thread_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// The eighth number of the first line, "cpu user nice system idle iowait irq softirq steal"; 0 where it is missing.
std::int64_t stolen_ticks(int stat) {
  std::array<char, 256> text{};
  if (stat < 0 || ::pread(stat, text.data(), text.size() - 1, 0) <= 0) return 0;
  long long steal = 0;
  const int read = std::sscanf(text.data(), "cpu %*s %*s %*s %*s %*s %*s %*s %lld", &steal);
  return read == 1 ? steal : 0;
}

}  // namespace

NoiseWatch::NoiseWatch() : stat_(::open("/proc/stat", O_RDONLY | O_CLOEXEC)) {}

NoiseWatch::~NoiseWatch() {
  if (stat_ >= 0) ::close(stat_);
}

NoiseWatch::Look NoiseWatch::look() const {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {.preemptions = usage.ru_nivcsw,
          .major_faults = usage.ru_majflt,
          .busy_ns = thread_ns(),
          .stolen_ticks = stolen_ticks(stat_)};
}

void NoiseWatch::begin() { first_ = look(); }

Disturbance NoiseWatch::end(std::int64_t elapsed_ns) const {
  const Look last = look();
  const auto away_ns = static_cast<double>(elapsed_ns - (last.busy_ns - first_.busy_ns));
  return {.preempted = last.preemptions > first_.preemptions && away_ns > kShare * static_cast<double>(elapsed_ns),
          .major_fault = last.major_faults > first_.major_faults,
          .stolen = last.stolen_ticks > first_.stolen_ticks};
}

}  // namespace collage
