#include "worker/resource_check.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "timing/sampling.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

void work_for(std::int64_t ns) {
  const std::int64_t end = monotonic_ns() + ns;
  while (monotonic_ns() < end) {
  }
}

/// What a run that does this is refused with; "" when it is not.
template <class Work>
std::string judged(Work work, int threads = 1) {
  const auto refusal = check_resources(usage_now(), threads, [&]() -> Result<void> {
    work();
    return {};
  });
  if (!refusal) return "";
  EXPECT_EQ(refusal->reason, RefusalReason::kResources);
  return refusal->detail;
}

TEST(Conduct, QuietWorkIsFine) {
  EXPECT_EQ(judged([] { work_for(1000); }), "");
  EXPECT_EQ(judged([] { work_for(2'000'000); }), "");
}

TEST(Conduct, DescriptorsThatStayOpenAreALeak) {
  std::vector<int> open;
  EXPECT_THAT(judged([&] { open.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }),
              HasSubstr("descriptors with every run"));
  for (const int descriptor : open) ::close(descriptor);
}

TEST(Conduct, MemoryThatStaysIsALeak) {
  std::vector<std::unique_ptr<char[]>> kept;
  EXPECT_THAT(judged([&] {
                kept.push_back(std::make_unique<char[]>(4 << 20));
                std::memset(kept.back().get(), 1, 4 << 20);
              }),
              HasSubstr("memory with every run"));
}

TEST(Conduct, ThreadsThatStayAreALeak) {
  std::atomic<bool> done = false;
  std::vector<std::jthread> kept;
  EXPECT_THAT(judged([&] { kept.emplace_back([&] { done.wait(false); }); }), HasSubstr("threads with every run"));
  done = true;
  done.notify_all();
}

TEST(Conduct, WhatIsTakenOnceIsNoLeak) {
  int runs = 0;
  std::vector<int> open;
  std::unique_ptr<char[]> cache;
  EXPECT_EQ(judged([&] {
              if (++runs > 1) return;
              for (int i = 0; i < 9; ++i) open.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
              cache = std::make_unique<char[]>(9 << 20);
              std::memset(cache.get(), 1, 9 << 20);
            }),
            "");
  for (const int descriptor : open) ::close(descriptor);
}

TEST(Conduct, RunThatFailsIsNotJudged) {
  int runs = 0;
  const auto refusal = check_resources(usage_now(), 1, [&]() -> Result<void> {
    ++runs;
    return fail(ExitCode::kUnsupported, "test/failure", "here", "this");
  });
  EXPECT_FALSE(refusal);
  EXPECT_EQ(runs, 1);
}

/// Processors that the machine lets it have, at the moment.
double processors_of(const std::function<void()>& work) {
  const Usage before = usage_now();
  for (int run = 0; run < 100; ++run) work();
  const Usage after = usage_now();
  return static_cast<double>(after.cpu_ns - before.cpu_ns) / static_cast<double>(after.wall_ns - before.wall_ns);
}

TEST(Conduct, MoreProcessorsThanAllowedAreNoticed) {
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  if (CPU_COUNT(&mine) < 2) GTEST_SKIP() << "one processor";
  const auto in_two_threads = [] {
    std::jthread other([] { work_for(3'000'000); });
    work_for(3'000'000);
  };
  // Somebody else may have the second processor at times.
  std::string seen;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (seen.empty() && std::chrono::steady_clock::now() < end) seen = judged(in_two_threads);
  if (seen.empty() && processors_of(in_two_threads) < 1.8) GTEST_SKIP() << "the second processor is never free";
  EXPECT_THAT(seen, HasSubstr("processors busy"));
  EXPECT_EQ(judged(in_two_threads, 2), "");
}

}  // namespace
}  // namespace collage
