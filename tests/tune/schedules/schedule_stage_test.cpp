// Schedules in a whole tune, with a backend whose settings are how long it waits.
#include <gmock/gmock.h>

#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

class ScheduleStage : public ::testing::Test {
 protected:
  ScheduleStage() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  [[nodiscard]] TuneOptions options(double tune_budget_s) const {
    TuneOptions made = test::small_tune(scratch, {"test:tunable=1"});
    made.only = "test:tunable=1";  // the host would take it all
    made.tune_budget_s = tune_budget_s;
    made.measures_all = true;  // else what the first tune had no need to measure is measured in a later one
    return made;
  }

  [[nodiscard]] TuneReport tuned(double tune_budget_s) {
    auto report = tune(options(tune_budget_s), registry);
    EXPECT_TRUE(report) << to_string(report.error());
    return report ? *std::move(report) : TuneReport{};
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(ScheduleStage, WithoutTimeOnlyWhatIsOfferedIsTried) {
  const TuneReport report = tuned(0);
  EXPECT_EQ(report.schedules.tried, 0U);
  // Waits go by the clock, but costs are those of a quiet moment: on a busy machine they are told as less.
  EXPECT_GT(report.cover_us, 20) << "every variant waits for 200 us";
}

TEST_F(ScheduleStage, FindsFasterSettingsAndShipsThem) {
  const TuneReport report = tuned(20);
  EXPECT_GT(report.schedules.tried, 3U);
  EXPECT_GT(report.schedules.before_ns, 20'000);
  EXPECT_LT(report.schedules.after_ns, report.schedules.before_ns * 3 / 4);
  EXPECT_LT(report.cover_us, 150);
  EXPECT_THAT(report.cover, HasSubstr("wait_us=5"));
  ASSERT_FALSE(report.schedules.kernels.empty());
  EXPECT_EQ(report.schedules.kernels[0].backend, "test:tunable=1");
  test::expect_small_graph_numbers(report.plan, registry, {2.0F});
}

TEST_F(ScheduleStage, ASecondTuneNeedsNoTuning) {
  const TuneReport first = tuned(60);
  const TuneReport again = tuned(60);
  EXPECT_EQ(again.schedules.tried, 0U) << "the question was answered";
  EXPECT_EQ(again.measured, 0U);
  EXPECT_GT(again.schedules.known, 0U);
  EXPECT_EQ(again.cover_us, first.cover_us);
  const TuneReport without = tuned(0);
  EXPECT_EQ(without.cover_us, first.cover_us) << "what was found stays found";
}

TEST_F(ScheduleStage, BackendsWithoutSpacesLeaveTheTimeUnused) {
  TuneOptions plain = options(20);
  plain.backends = {"test"};
  plain.only = "test";
  const auto report = tune(plain, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->schedules.tried, 0U);
  EXPECT_LT(report->tune_s, 15);
}

}  // namespace
}  // namespace collage
