#include "plan/memory.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/support/dice.h"

namespace collage {
namespace {

std::vector<Interval> random_intervals(Dice& dice) {
  std::vector<Interval> intervals(dice.below(60));
  const std::size_t steps = 1 + dice.below(40);
  for (Interval& interval : intervals) {
    interval.first = dice.below(steps);
    interval.last = interval.first + (dice.one_in(8) ? dice.below(steps) : dice.below(4));
    interval.bytes = dice.one_in(10) ? 0 : dice.one_in(3) ? 64 * dice.below(8) : 1 + dice.below(5000);
  }
  return intervals;
}

/// The most bytes alive at one step: no plan can do with less.
std::size_t peak_live_bytes(std::span<const Interval> intervals) {
  std::map<std::size_t, std::int64_t> changes;
  for (const Interval& interval : intervals) {
    changes[interval.first] += static_cast<std::int64_t>(aligned_up(interval.bytes));
    changes[interval.last + 1] -= static_cast<std::int64_t>(aligned_up(interval.bytes));
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (const auto& [step, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return static_cast<std::size_t>(peak);
}

/// Two intervals that live at the same time and share bytes, or one twice that is misaligned or ends past the arena.
std::optional<std::pair<std::size_t, std::size_t>> find_overlap(std::span<const Interval> intervals,
                                                                const MemoryPlan& plan) {
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const std::size_t i_end = plan.offsets[i] + intervals[i].bytes;
    if (plan.offsets[i] % kBufferAlignment != 0 || i_end > plan.bytes) return std::pair{i, i};
    for (std::size_t j = i + 1; j < intervals.size(); ++j) {
      const std::size_t j_end = plan.offsets[j] + intervals[j].bytes;
      const bool apart_in_time = intervals[i].last < intervals[j].first || intervals[j].last < intervals[i].first;
      const bool apart_in_space = i_end <= plan.offsets[j] || j_end <= plan.offsets[i];
      if (!apart_in_time && !apart_in_space) return std::pair{i, j};
    }
  }
  return std::nullopt;
}

TEST(Memory, NeverLetsLiveBuffersOverlapAndStaysNearThePeak) {
  Dice dice(7);
  std::size_t planned = 0;
  std::size_t peak = 0;
  for (int round = 0; round < 500; ++round) {
    const std::vector<Interval> intervals = random_intervals(dice);
    const MemoryPlan plan = plan_memory(intervals);
    ASSERT_FALSE(find_overlap(intervals, plan)) << "round " << round;
    ASSERT_GE(plan.bytes, peak_live_bytes(intervals));
    planned += plan.bytes;
    peak += peak_live_bytes(intervals);
  }
  EXPECT_LT(static_cast<double>(planned), 1.1 * static_cast<double>(peak));
}

TEST(Memory, ReusesWhatIsNoLongerNeeded) {
  const std::vector<Interval> chain = {{0, 1, 100}, {1, 2, 100}, {2, 3, 100}, {3, 4, 100}};
  EXPECT_EQ(plan_memory(chain).bytes, 256U);
}

TEST(Memory, PutsASmallBufferIntoTheTightestGap) {
  // Between the two long-lived buffers the big one leaves a gap of 1024 and, above them, none.
  const std::vector<Interval> intervals = {{0, 0, 4096}, {0, 9, 2048}, {1, 9, 3072}, {2, 3, 1024}};
  const MemoryPlan plan = plan_memory(intervals);
  EXPECT_FALSE(find_overlap(intervals, plan));
  EXPECT_EQ(plan.bytes, 4096U + 2048U);
}

TEST(Memory, NeedsNothingForNothing) {
  EXPECT_EQ(plan_memory({}).bytes, 0U);
  const std::vector<Interval> empty = {{0, 5, 0}};
  EXPECT_EQ(plan_memory(empty).bytes, 0U);
}

TEST(Memory, CheckerSeesOverlapMisalignmentAndTheEnd) {
  const std::vector<Interval> intervals = {{0, 1, 100}, {1, 2, 100}, {3, 4, 100}};
  const auto overlap = [&](std::vector<std::size_t> offsets, std::size_t bytes) {
    return find_overlap(intervals, {.offsets = std::move(offsets), .bytes = bytes}).has_value();
  };
  EXPECT_FALSE(overlap({0, 128, 0}, 256));
  EXPECT_TRUE(overlap({0, 64, 0}, 256));
  EXPECT_TRUE(overlap({0, 100, 0}, 256));
  EXPECT_TRUE(overlap({0, 128, 0}, 200));
}

}  // namespace
}  // namespace collage
