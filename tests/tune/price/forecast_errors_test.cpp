#include "tune/price/forecast_errors.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(ForecastErrors, ChangeNothingBeforeAnyIsSeen) { EXPECT_EQ(ForecastErrors().factor("a"), 1); }

TEST(ForecastErrors, NarrowForecastsThatWereBetterThanTheyPromised) {
  ForecastErrors errors;
  errors.add("a", -0.2);
  EXPECT_GT(errors.factor("a"), 0.8) << "one time says little";
  for (int i = 0; i < 100; ++i) errors.add("a", i % 2 == 0 ? 0.4 : -0.4);
  EXPECT_NEAR(errors.factor("a"), 0.45, 0.05);
  EXPECT_EQ(errors.factor("b"), 1) << "nothing is known of it";
}

TEST(ForecastErrors, WidenForecastsThatWereWorseWithinABound) {
  ForecastErrors errors;
  for (int i = 0; i < 100; ++i) errors.add("a", i % 2 == 0 ? 1.4 : -1.4);
  EXPECT_NEAR(errors.factor("a"), 1.4, 0.05);
  for (int i = 0; i < 1000; ++i) errors.add("a", -100);
  EXPECT_EQ(errors.factor("a"), 1.5);
}

TEST(ForecastErrors, TimesAboveTheForecastSayThatLittleIsBelow) {
  ForecastErrors errors;
  ForecastErrors far_above;
  for (int i = 0; i < 10; ++i) {
    errors.add("a", 0.01);
    far_above.add("a", 9);
  }
  EXPECT_LT(errors.factor("a"), 0.6);
  EXPECT_EQ(errors.factor("a"), far_above.factor("a")) << "how far above is no matter";
  for (int i = 0; i < 1000; ++i) errors.add("a", 9);
  EXPECT_GT(errors.factor("a"), 0.25) << "something is always possible";
}

TEST(ForecastErrors, ForgetTheFirstSurprises) {
  ForecastErrors errors;
  for (int i = 0; i < 20; ++i) errors.add("a", -3);
  for (int i = 0; i < 100; ++i) errors.add("a", i % 2 == 0 ? 0.5 : -0.5);
  EXPECT_NEAR(errors.factor("a"), 0.5, 0.15);
}

}  // namespace
}  // namespace collage
