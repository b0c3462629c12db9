#include "tune/price/forecast_errors.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(ForecastErrors, ChangeNothingBeforeAnyIsSeen) { EXPECT_EQ(ForecastErrors().factor("a"), 1); }

TEST(ForecastErrors, NarrowForecastsThatWereBetterThanTheyPromised) {
  ForecastErrors errors;
  errors.add("a", -0.2);
  const double after_one = errors.factor("a");
  for (int i = 0; i < 100; ++i) errors.add("a", -0.4);
  EXPECT_GT(after_one, 0.9) << "one time says little";
  EXPECT_NEAR(errors.factor("a"), 0.45, 0.05);
  EXPECT_EQ(errors.factor("b"), 1) << "nothing is known of it";
}

TEST(ForecastErrors, WidenForecastsThatWereWorseWithinABound) {
  ForecastErrors errors;
  for (int i = 0; i < 100; ++i) errors.add("a", -1.4);
  EXPECT_NEAR(errors.factor("a"), 1.4, 0.05);
  for (int i = 0; i < 1000; ++i) errors.add("a", -100);
  EXPECT_EQ(errors.factor("a"), 1.5);
}

TEST(ForecastErrors, DoNotCountTimesAboveTheForecast) {
  ForecastErrors errors;
  for (int i = 0; i < 100; ++i) errors.add("a", 0.01);
  for (int i = 0; i < 100; ++i) errors.add("a", 9);
  EXPECT_EQ(errors.factor("a"), 1);
}

}  // namespace
}  // namespace collage
