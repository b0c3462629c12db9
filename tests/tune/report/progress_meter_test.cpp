#include "tune/report/progress_meter.h"

#include <gtest/gtest.h>

#include <vector>

namespace collage {
namespace {

struct Meter {
  double now_s = 0;
  std::vector<ProgressEvent> seen;
  ProgressMeter meter{[this](const ProgressEvent& event) { seen.push_back(event); }, 100, [this] { return now_s; }};

  const ProgressEvent& tell(const std::string& phase, std::size_t done, std::size_t total, std::size_t refused = 0) {
    meter.sink()({.phase = phase, .done = done, .total = total, .refused = refused, .note = {}});
    return seen.back();
  }
};

TEST(ProgressMeter, BatchesOfAPhaseAddUp) {
  Meter meter;
  (void)meter.tell("price", 8, 10, 2);
  const ProgressEvent second = meter.tell("price", 3, 20, 1);  // another pricer, another pool
  EXPECT_EQ(second.done, 11U);
  EXPECT_EQ(second.total, 28U);
  EXPECT_EQ(second.refused, 3U);
  (void)meter.tell("search", 0, 0);
  const ProgressEvent third = meter.tell("price", 1, 5, 2);
  EXPECT_EQ(third.done, 12U);
  EXPECT_EQ(third.total, 16U);
  EXPECT_EQ(third.refused, 4U);
}

TEST(ProgressMeter, CountsOfOtherPhasesStayApart) {
  Meter meter;
  (void)meter.tell("price", 8, 10);
  EXPECT_EQ(meter.tell("evolve", 1, 30).done, 1U);
  EXPECT_EQ(meter.tell("search", 0, 0).total, 0U);
}

TEST(ProgressMeter, BestIsKeptForEveryEventAfterwards) {
  Meter meter;
  EXPECT_EQ(meter.tell("price", 1, 2).best_us, 0);
  meter.meter.know_best(800);
  EXPECT_EQ(meter.tell("search", 0, 0).best_us, 800);
  meter.meter.sink()({.phase = "evolve", .done = 1, .total = 30, .best_us = 700, .note = {}});
  EXPECT_EQ(meter.tell("evolve", 2, 30).best_us, 700);
  meter.meter.know_best(710);  // timed again, more carefully
  EXPECT_EQ(meter.tell("confirm", 0, 0).best_us, 710);
}

TEST(ProgressMeter, TimeLeftIsTheBudgetOrLess) {
  Meter meter;
  EXPECT_DOUBLE_EQ(*meter.tell("import", 0, 0).left_s, 100);
  meter.now_s = 10;
  EXPECT_DOUBLE_EQ(*meter.tell("price", 0, 40).left_s, 90);
  meter.now_s = 20;
  // 20 of 40 in ten seconds, so ten more, and the twelve that usually follow.
  EXPECT_DOUBLE_EQ(*meter.tell("price", 20, 40).left_s, 22);
  meter.now_s = 95;
  EXPECT_DOUBLE_EQ(*meter.tell("price", 21, 40).left_s, 5);
  meter.now_s = 130;
  EXPECT_DOUBLE_EQ(*meter.tell("price", 22, 40).left_s, 0);
}

/// One that is done when a batch is first heard of says nothing of how long the others take.
TEST(ProgressMeter, TheFirstOfABatchIsNoRate) {
  Meter meter;
  meter.now_s = 10;
  EXPECT_DOUBLE_EQ(*meter.tell("price", 1, 41).left_s, 90);
  meter.now_s = 12;
  EXPECT_DOUBLE_EQ(*meter.tell("price", 11, 41).left_s, 18);
}

TEST(ProgressMeter, NobodyNeedListen) {
  ProgressMeter meter({}, 1, [] { return 0.0; });
  meter.sink()({.phase = "price", .done = 1, .total = 2, .note = {}});
}

}  // namespace
}  // namespace collage
