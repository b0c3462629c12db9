#include "api/tune/recheck_verdict.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(RecheckVerdict, SameWithinTheNoise) {
  const TimesVerdict verdict = judge_times({{1000, 1090}, {500, 470}, {200, 219}});
  EXPECT_EQ(verdict.fitness, Fitness::kSame);
  EXPECT_EQ(verdict.lost, 0);
}

TEST(RecheckVerdict, NothingTimedIsNothingSlower) { EXPECT_EQ(judge_times({}).fitness, Fitness::kSame); }

TEST(RecheckVerdict, FasterMachineIsNoReasonToTuneAgain) {
  const TimesVerdict verdict = judge_times({{1000, 500}, {500, 250}, {200, 100}});
  EXPECT_EQ(verdict.fitness, Fitness::kSame);
  EXPECT_DOUBLE_EQ(verdict.speed, 0.5);
}

TEST(RecheckVerdict, MachineThatIsSlowerAsAWholeIsUsable) {
  const TimesVerdict verdict = judge_times({{1000, 3000}, {500, 1550}, {200, 590}});
  EXPECT_EQ(verdict.fitness, Fitness::kUsable);
  EXPECT_DOUBLE_EQ(verdict.speed, 3);
  EXPECT_EQ(verdict.lost, 0);
}

TEST(RecheckVerdict, SmallPartThatFellBehindIsUsable) {
  const TimesVerdict verdict = judge_times({{1000, 1000}, {500, 500}, {100, 200}});
  EXPECT_EQ(verdict.fitness, Fitness::kUsable);
  EXPECT_DOUBLE_EQ(verdict.lost, 100.0 / 1700);
}

TEST(RecheckVerdict, LargePartThatFellBehindAsksForANewTune) {
  EXPECT_EQ(judge_times({{1000, 1000}, {500, 500}, {400, 1200}}).fitness, Fitness::kRetune);
}

TEST(RecheckVerdict, PartThatMissesTheGainOfAFasterMachineFellBehind) {
  // It is no slower than it was; the others need a third.
  EXPECT_EQ(judge_times({{1000, 333}, {1000, 333}, {500, 500}}).fitness, Fitness::kRetune);
}

TEST(RecheckVerdict, WorseIsGreater) {
  EXPECT_LT(Fitness::kSame, Fitness::kUsable);
  EXPECT_LT(Fitness::kUsable, Fitness::kRetune);
  EXPECT_LT(Fitness::kRetune, Fitness::kRefused);
}

}  // namespace
}  // namespace collage
