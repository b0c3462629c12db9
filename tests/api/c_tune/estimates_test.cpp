// Cost estimators that programs pass in, and workers of their own.
#include "tests/api/c_tune/tune_fixture.h"

namespace collage::test {
namespace {

using ::testing::Each;

/// What an estimator was asked, and what it answers.
struct Asked {
  std::int32_t answer = 1;
  double us = 1;
  std::vector<std::string> candidates;
};

std::int32_t estimate(const char* candidate, double* us, void* asked) {
  auto& data = *static_cast<Asked*>(asked);
  data.candidates.emplace_back(candidate);
  *us = data.us;
  return data.answer;
}

class CEstimates : public CTune {
 protected:
  CEstimates() {
    options.estimate = estimate;
    options.estimate_data = &asked;
  }
  Asked asked;
};

TEST_F(CEstimates, StandForMeasuringWhereAsked) {
  options.estimates_only = 1;
  const ReportHandle report = tuned();
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(summary_of(report).measured, 0U);
  EXPECT_THAT(answer_of(loaded(plan_), 1.5F), Each(-2));
  ASSERT_FALSE(asked.candidates.empty());
  const auto candidate = nlohmann::json::parse(asked.candidates.front(), nullptr, false);
  EXPECT_EQ(candidate["schema"], "collage.candidate/1");
  EXPECT_EQ(candidate["region"]["schema"], "collage.region/1");
}

TEST_F(CEstimates, MayKnowNothing) {
  options.estimates_only = 1;
  options.budget_s = 20;  // a pause of the machine must not use it up
  asked.answer = 0;
  EXPECT_GT(summary_of(tuned()).measured, 0U);
}

TEST_F(CEstimates, ThatFailOrAreNoTimesAreErrors) {
  asked.answer = -1;
  EXPECT_EQ(refused(), "tune/estimate-failed");
  asked.answer = 1;
  asked.us = -1;
  EXPECT_EQ(refused(), "tune/bad-estimate");
}

TEST(CWorkers, OfListsThatAreNullServeNobody) { EXPECT_NE(tuner().serve_worker(-1, {nullptr, 1}), 0); }

}  // namespace
}  // namespace collage::test
