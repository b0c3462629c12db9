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

}  // namespace
}  // namespace collage
