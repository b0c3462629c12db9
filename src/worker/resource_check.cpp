#include "worker/resource_check.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "timing/sampling.h"
#include "worker/limits.h"

namespace collage {
namespace {

constexpr std::int64_t kLookNs = 300'000;
constexpr int kLooks = 3;
/// Allocators grow by pages and arenas; a real leak reaches this size in any batch of runs in which it matters.
constexpr std::int64_t kLeastLeak = 1 << 20;
/// Above the processors allowed: what other threads of the process do meanwhile, and clocks.
constexpr double kSpareProcessors = 0.5;
constexpr double kSuspicious = 0.1;
/// Idle pools of others may spin for some milliseconds after their own work.
constexpr auto kCalmDown = std::chrono::milliseconds(20);

/// A thread that was joined takes to end, on a busy processor.
constexpr auto kMostExiting = std::chrono::milliseconds(20);

constexpr std::int64_t kMostDescriptors = 512;
constexpr std::int64_t kMostThreads = 256;

std::int64_t entries_of(const char* folder) {
  DIR* const entries = ::opendir(folder);
  if (entries == nullptr) return 0;
  std::int64_t count = 0;
  while (const dirent* entry = ::readdir(entries)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(entries);
  return count;
}

std::int64_t cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

double processors(const Usage& before, const Usage& after) {
  return static_cast<double>(after.cpu_ns - before.cpu_ns) /
         static_cast<double>(std::max<std::int64_t>(after.wall_ns - before.wall_ns, 1));
}

/// What a batch of runs took more of.
struct UsageGrowth {
  bool threads = false;
  bool descriptors = false;
  bool memory = false;
  bool processors = false;

  UsageGrowth operator&(const UsageGrowth& other) const {
    return {.threads = threads && other.threads,
            .descriptors = descriptors && other.descriptors,
            .memory = memory && other.memory,
            .processors = processors && other.processors};
  }
  [[nodiscard]] bool any() const { return threads || descriptors || memory || processors; }
};

UsageGrowth growth(const Usage& before, const Usage& after, double most_processors) {
  return {.threads = after.threads > before.threads,
          .descriptors = after.descriptors > before.descriptors,
          .memory = after.private_bytes - before.private_bytes >= kLeastLeak,
          .processors = processors(before, after) > most_processors};
}

std::string in_words(const UsageGrowth& growth, const Usage& before, const Usage& after) {
  if (growth.descriptors) return "leaks descriptors with every run";
  if (growth.threads) return "leaks threads with every run";
  if (growth.memory)
    return fmt::format("leaks memory with every run, {} bytes in the last ones",
                       after.private_bytes - before.private_bytes);
  return fmt::format("keeps {:.1f} processors busy", processors(before, after));
}

/// Once threads that were joined have left the table of tasks: the system removes them a little later, on a busy
/// processor milliseconds.
Usage usage_after_exits(std::int64_t threads_before) {
  Usage now = usage_now();
  const auto end = Clock::now() + kMostExiting;
  while (now.threads > threads_before && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    now = usage_now();
  }
  return now;
}

}  // namespace

Usage usage_now() {
  return {.threads = entries_of("/proc/self/task"),
          .descriptors = entries_of("/proc/self/fd"),
          .private_bytes = private_bytes(::getpid()),
          .cpu_ns = cpu_ns(),
          .wall_ns = monotonic_ns()};
}

std::optional<Refusal> check_resources(const Usage& before, int threads, const std::function<Result<void>()>& run) {
  const Usage now = usage_now();
  UsageGrowth seen = growth(before, now, threads + kSuspicious);
  const bool was_long = now.wall_ns - before.wall_ns >= 2 * kLookNs;
  if (was_long && !seen.any()) return std::nullopt;
  UsageGrowth constant = {.threads = true, .descriptors = true, .memory = true, .processors = true};
  Usage begin;
  Usage end;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(kCalmDown);
    begin = usage_now();
    do {
      if (!run()) return std::nullopt;
    } while (monotonic_ns() - begin.wall_ns < (look + 1) * kLookNs);
    const std::int64_t cpu = cpu_ns();
    const std::int64_t wall = monotonic_ns();
    end = usage_after_exits(begin.threads);
    end.cpu_ns = cpu;
    end.wall_ns = wall;
    constant = constant & growth(begin, end, threads + kSpareProcessors);
    if (!constant.any()) return std::nullopt;
  }
  return Refusal{.reason = RefusalReason::kResources, .detail = in_words(constant, begin, end)};
}

bool has_leaked_much() {
  return entries_of("/proc/self/fd") > kMostDescriptors || entries_of("/proc/self/task") > kMostThreads;
}

}  // namespace collage
