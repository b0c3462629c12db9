#include "tune/confirm/contest.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

Contestant engine_with_share(double largest) {
  Contestant engine{.name = "openvino:precision=default", .is_rival = true, .may_ship = false};
  engine.share = {.largest = largest, .least = largest / 2, .sets = 4};
  return engine;
}

TEST(Contest, TellsWhyAPlanThatIsNearTheBoundMayNotShip) {
  EXPECT_EQ(why_it_may_not_ship(engine_with_share(0.93)),
            "openvino:precision=default as a whole does not ship: its outputs err up to 0.93 of what is allowed on 4 "
            "sets of inputs, so that they may leave the bound on others");
}

TEST(Contest, HasNoSuchReasonForOthers) {
  EXPECT_EQ(why_it_may_not_ship(engine_with_share(0.5)), "") << "other reasons are the user's own options";
  Contestant shipping = engine_with_share(0.93);
  shipping.may_ship = true;
  EXPECT_EQ(why_it_may_not_ship(shipping), "");
  Contestant wrong = engine_with_share(1.2);
  wrong.failure = "output y: far off";
  EXPECT_EQ(why_it_may_not_ship(wrong), "") << "the failure is told";
}

/// Two engines, the first far behind, and a cover that won.
Contest won_by_cover() {
  Contest contest;
  contest.add(
      {.name = "slow", .is_rival = true, .median_ns = 3000, .ratio = Ratio{.ratio = 3, .low = 2.9, .high = 3.1}});
  contest.add(
      {.name = "near", .is_rival = true, .median_ns = 1600, .ratio = Ratio{.ratio = 1.6, .low = 1.4, .high = 1.7}});
  contest.add({.name = "mixed", .median_ns = 1000});
  contest.winner_index = 2;
  return contest;
}

TEST(Contest, EnginesFarBehindACoverAreNotTimedAgain) {
  Contest contest = won_by_cover();
  contest.retire_far_behind();
  ASSERT_EQ(contest.competing.size(), 2U);
  EXPECT_EQ(contest.competing[0].name, "near") << "its interval begins too low";
  EXPECT_EQ(contest.winner().name, "mixed");
  ASSERT_EQ(contest.losers().size(), 2U) << "the report tells of both";
}

TEST(Contest, NoEngineIsRetiredByAnEngine) {
  Contest contest = won_by_cover();
  contest.winner_index = 1;
  contest.retire_far_behind();
  EXPECT_EQ(contest.competing.size(), 3U);
}

TEST(Contest, RatiosOfRetiredEnginesFollowTheWinner) {
  Contest contest = won_by_cover();
  contest.retire_far_behind();
  contest.scale_retired({.ratio = 1.1, .low = 1.0, .high = 1.2});
  const Ratio& ratio = *contest.beaten.front().ratio;
  EXPECT_DOUBLE_EQ(ratio.ratio, 3.3);
  EXPECT_DOUBLE_EQ(ratio.low, 2.9);
  EXPECT_DOUBLE_EQ(ratio.high, 3.1 * 1.2);
}

TEST(Contest, RetiredEnginesCompeteAgainWhenCalled) {
  Contest contest = won_by_cover();
  EXPECT_FALSE(contest.recall_engines());
  contest.retire_far_behind();
  EXPECT_TRUE(contest.recall_engines());
  EXPECT_EQ(contest.competing.size(), 3U);
  EXPECT_TRUE(contest.beaten.empty());
}

/// That takes ten seconds to write.
RealisedPlan large_plan() {
  RealisedPlan plan;
  plan.onnx = Buffer::copy_of(std::vector<std::byte>(1000));
  return plan;
}

TEST(Contest, CountsTheFilesThatAreNotWrittenYetAndOneMore) {
  Contest contest;
  contest.add({.name = "engine", .plan = large_plan(), .is_rival = true, .file = "plan-0.collage"});
  contest.add({.name = "mixed", .plan = large_plan()});
  EXPECT_EQ(contest.files_s_with_one_more(), 0) << "no file has told how long writing takes";
  contest.write_s_per_byte = 0.01;
  EXPECT_DOUBLE_EQ(contest.writing_s(contest.competing[1].plan), 10);
  EXPECT_DOUBLE_EQ(contest.files_s_with_one_more(), 40) << "two are written and read, the engine's is there";
}

}  // namespace
}  // namespace collage
