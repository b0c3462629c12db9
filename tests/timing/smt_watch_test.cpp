#include "timing/smt_watch.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace collage {
namespace {

/// A core whose looks take a microsecond and are what a test says.
struct FakeCore {
  double ratio = 3;  ///< which says nothing: processors differ
  std::int64_t now = 0;

  SmtWatch watch() {
    return SmtWatch(
        [this] {
          now += 1'000;
          return ratio;
        },
        [this] { return now; });
  }
};

TEST(SmtWatch, ComparesWithTheLeastRatioSeen) {
  FakeCore core;
  SmtWatch watch = core.watch();
  EXPECT_FALSE(watch.is_shared());
  core.ratio = 3.5;
  EXPECT_FALSE(watch.is_shared()) << "looks differ a little";
  core.ratio = 5;
  EXPECT_TRUE(watch.is_shared());
}

TEST(SmtWatch, LearnsLaterThatTheCoreWasSharedAtFirst) {
  FakeCore core{.ratio = 5};
  SmtWatch watch = core.watch();
  EXPECT_FALSE(watch.is_shared());
  core.ratio = 3;
  EXPECT_FALSE(watch.is_shared());
  core.ratio = 5;
  EXPECT_TRUE(watch.is_shared());
}

TEST(SmtWatch, WaitsUntilTheCoreIsNotShared) {
  FakeCore core;
  std::int64_t quiet_from = 0;
  SmtWatch watch(
      [&] {
        core.now += 1'000'000;
        return core.now >= quiet_from ? 3 : 5;
      },
      [&] { return core.now; });
  quiet_from = core.now + 6'000'000;
  EXPECT_TRUE(watch.wait_until_alone());
  EXPECT_EQ(core.now, quiet_from);
}

TEST(SmtWatch, WaitsForAShortTimeAndASmallShareOfAllTime) {
  FakeCore core;
  SmtWatch watch = core.watch();
  core.ratio = 5;
  const auto waited_ns = [&](int waits) {
    const std::int64_t begin = core.now;
    for (int i = 0; i < waits; ++i) EXPECT_FALSE(watch.wait_until_alone());
    return core.now - begin;
  };
  EXPECT_NEAR(waited_ns(1), 10e6, 1e5);
  EXPECT_LT(waited_ns(1000), 20e6);
  core.now += 1'000'000'000;
  EXPECT_NEAR(waited_ns(1000), 110e6, 10e6) << "a tenth of the second, and of the time spent waiting";
}

TEST(SmtWatch, WaitsNoLongerOnTheRealCore) {
  SmtWatch watch;
  const std::int64_t begin = monotonic_ns();
  static_cast<void>(watch.wait_until_alone());
  EXPECT_LT(monotonic_ns() - begin, 1'000'000'000) << "ten milliseconds, if nobody takes the processor away";
}

}  // namespace
}  // namespace collage
