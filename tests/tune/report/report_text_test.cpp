#include "tune/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TuneReport tuned_until_the_deadline() {
  TuneReport report{.plan = "m.collage", .model = "m.onnx"};
  report.tune_s = 60;
  report.measured_us = 700;
  report.curve = {{.seconds = 3, .us = 1000}, {.seconds = 58, .us = 700}};
  report.ended.why = Ending::kBudget;
  return report;
}

TEST(TuneReportText, SaysWhatTheSecondHalfOfMeasuringGained) {
  TuneReport report = tuned_until_the_deadline();
  report.second_half_gain = 0.08;
  EXPECT_THAT(to_text(report),
              HasSubstr("second half of measuring gained 8.0 %: a larger budget is likely to give more"));
  report.second_half_gain = 0.003;
  EXPECT_THAT(to_text(report), HasSubstr("gained 0.3 %: a larger budget is likely to give little more"))
      << "that the plan is timed at the end only says nothing";
}

TEST(TuneReportText, ForetellsNothingWhereNothingIsKnownOfTheFirstHalfOrAllWasMeasured) {
  TuneReport report = tuned_until_the_deadline();
  EXPECT_THAT(to_text(report), Not(HasSubstr("likely to give")));
  report.second_half_gain = 0.08;
  report.ended.why = Ending::kComplete;
  EXPECT_THAT(to_text(report), Not(HasSubstr("likely to give")));
}

}  // namespace
}  // namespace collage
