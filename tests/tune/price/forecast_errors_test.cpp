#include "tune/price/forecast_errors.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(ForecastErrors, ChangeNothingBeforeAnyIsSeen) { EXPECT_EQ(ForecastErrors().factor("a"), 1); }

/// One time for each fit.
void add_one_by_one(ForecastErrors& errors, int count, double even, double odd) {
  for (int i = 0; i < count; ++i) {
    errors.add("a", i % 2 == 0 ? even : odd);
    errors.fit();
  }
}

TEST(ForecastErrors, NarrowForecastsThatWereBetterThanTheyPromised) {
  ForecastErrors errors;
  errors.add("a", -0.2);
  EXPECT_EQ(errors.factor("a"), 1) << "not before the fit";
  errors.fit();
  EXPECT_GT(errors.factor("a"), 0.8) << "one time says little";
  for (int i = 0; i < 100; ++i) errors.add("a", i % 2 == 0 ? 0.4 : -0.4);
  errors.fit();
  EXPECT_NEAR(errors.factor("a"), 0.45, 0.05);
  EXPECT_EQ(errors.factor("b"), 1) << "nothing is known of it";
}

TEST(ForecastErrors, WidenForecastsThatWereWorseWithinABound) {
  ForecastErrors errors;
  for (int i = 0; i < 100; ++i) errors.add("a", i % 2 == 0 ? 1.4 : -1.4);
  errors.fit();
  EXPECT_NEAR(errors.factor("a"), 1.4, 0.05);
  add_one_by_one(errors, 1000, -100, -100);
  EXPECT_EQ(errors.factor("a"), 1.5);
}

TEST(ForecastErrors, TimesAboveTheForecastSayThatLittleIsBelow) {
  ForecastErrors errors;
  ForecastErrors far_above;
  add_one_by_one(errors, 10, 0.01, 0.01);
  add_one_by_one(far_above, 10, 9, 9);
  EXPECT_LT(errors.factor("a"), 0.6);
  EXPECT_EQ(errors.factor("a"), far_above.factor("a")) << "how far above is no matter";
  add_one_by_one(errors, 1000, 9, 9);
  EXPECT_GT(errors.factor("a"), 0.25) << "something is always possible";
}

TEST(ForecastErrors, ForgetTheFirstSurprises) {
  ForecastErrors errors;
  add_one_by_one(errors, 20, -3, -3);
  add_one_by_one(errors, 100, 0.5, -0.5);
  EXPECT_NEAR(errors.factor("a"), 0.5, 0.15);
}

TEST(ForecastErrors, CountAnErrorThatTimesOfOneFitHaveInCommonOnce) {
  ForecastErrors errors;
  for (int i = 0; i < 16; ++i) errors.add("a", i % 2 == 0 ? -2.1 : -1.9);
  errors.fit();
  EXPECT_LT(errors.factor("a"), 0.9);
  ForecastErrors one_by_one;
  add_one_by_one(one_by_one, 16, -2.1, -1.9);
  EXPECT_EQ(one_by_one.factor("a"), 1.5);
}

}  // namespace
}  // namespace collage
