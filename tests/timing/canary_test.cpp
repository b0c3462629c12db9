#include "timing/canary.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(Canary, IsNeverFasterThanInAQuietMoment) {
  Canary canary;
  for (int look = 0; look < 100; ++look) EXPECT_GE(canary.slowness(), 1.0);
  EXPECT_GT(canary.quiet_ns(), 0);
}

TEST(Canary, LearnsFromOthersButKeepsTheLeast) {
  Canary canary;
  canary.learn(1);
  EXPECT_EQ(canary.quiet_ns(), 1);
  EXPECT_GT(canary.slowness(), 10);  // no processor does the work in a nanosecond
  canary.learn(5);
  canary.learn(0);  // nothing is known
  EXPECT_EQ(canary.quiet_ns(), 1);
}

TEST(Canary, WaitingEndsWithPatience) {
  Canary canary;
  canary.learn(1);
  std::int64_t patience_ns = 20'000'000;
  wait_for_quiet(canary, 1.2, patience_ns);
  EXPECT_LE(patience_ns, 0);
  Canary quiet;
  std::int64_t untouched = 1000;
  wait_for_quiet(quiet, 1e9, untouched);
  EXPECT_EQ(untouched, 1000);
}

}  // namespace
}  // namespace collage
