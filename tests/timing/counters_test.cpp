#include "timing/counters.h"

#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace collage {
namespace {

void work_for(std::chrono::milliseconds time) {
  for (const Clock::time_point end = Clock::now() + time; Clock::now() < end;) {
  }
}

TEST(CountersTest, EachEventIsOpenOrRefusedWithAReason) {
  const Counters counters = Counters::open();
  EXPECT_EQ(counters.names().size() + counters.refused().size(), 6U);
  for (const std::string& reason : counters.refused()) EXPECT_THAT(reason, testing::HasSubstr(": "));
}

TEST(CountersTest, ProcessorTimeIsThatOfThisThreadAndOfThoseItStarts) {
  const Counters counters = Counters::open();
  const auto at = std::ranges::find(counters.names(), "cpu_ns");
  if (at == counters.names().end()) GTEST_SKIP() << "no events of the kernel here";
  const auto cpu_ns = static_cast<std::size_t>(at - counters.names().begin());
  std::vector<std::uint64_t> before(counters.names().size());
  std::vector<std::uint64_t> alone = before;
  std::vector<std::uint64_t> both = before;
  constexpr std::chrono::milliseconds kWork(20);
  counters.read(before);
  work_for(kWork);
  counters.read(alone);
  std::thread other([&] { work_for(kWork); });
  other.join();
  counters.read(both);
  // Other programs take time from this one, so less than the whole is enough.
  EXPECT_GT(alone[cpu_ns] - before[cpu_ns], 1'000'000U);
  EXPECT_GT(both[cpu_ns] - alone[cpu_ns], 1'000'000U);
}

}  // namespace
}  // namespace collage
