#include "tune/price/estimates.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/schema_check.h"
#include "tests/tune/pool_fixture.h"
#include "tests/tune/tune_fixture.h"
#include "tune/price/cost_bounds.h"

namespace collage {
namespace {

constexpr PeakRates kRates = {.flops_per_ns = 50, .bytes_per_ns = 50};

/// What the estimator says of every candidate.
EstimateOptions says(double ns, EstimateUse use = EstimateUse::kForecast) {
  return {
      .estimator = [ns](const Graph&, const Region&, const Candidate&) -> Result<std::optional<double>> { return ns; },
      .use = use};
}

TEST(Estimates, AreAskedOfEveryCandidateButViews) {
  auto problem = test::PoolProblem::chain(3);
  problem.add("a", {0}, 1);
  problem.add("b", {1}, 1);
  problem.add("a", {2}, 1);
  problem.pool.candidates[1].variant.name = "view";
  const auto found = estimates_of(says(5000), problem.graph, problem.pool);
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(*found, (Estimates{5000, std::nullopt, 5000}));
}

TEST(Estimates, ThatAreNoTimesAreErrors) {
  auto problem = test::PoolProblem::chain(1);
  problem.add("a", {0}, 1);
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto found = estimates_of(says(bad), problem.graph, problem.pool);
    ASSERT_FALSE(found) << bad;
    EXPECT_EQ(found.error().code, "tune/bad-estimate");
  }
}

TEST(Estimates, StandForCostsOnlyWhereAskedToAndNothingIsKnown) {
  const Estimates estimates = {1500, std::nullopt, 2500};
  const Cost known = Measured{.median_ns = 7, .low_ns = 7, .high_ns = 7, .samples = 9};
  const std::vector<Cost> costs = {Unknown{}, Unknown{}, known};
  EXPECT_EQ(with_estimates(says(1, EstimateUse::kForecast), estimates, costs), costs);
  EXPECT_EQ(with_estimates(says(1, EstimateUse::kCost), estimates, costs),
            (std::vector<Cost>{Estimated{.ns = 1500}, Unknown{}, known}));
}

TEST(Estimates, AreForecastsThatMeasuredTimesCorrect) {
  auto problem = test::PoolProblem::chain(12);
  Estimates estimates;
  for (std::size_t n = 0; n < 12; ++n) {
    problem.add("a", {n}, 1);
    estimates.emplace_back(100'000.0 * static_cast<double>(n + 1));
  }
  CostBounds bounds(problem.graph, problem.pool, Accuracy::kStandard, kRates, 1, estimates);
  EXPECT_NEAR(static_cast<double>(bounds.forecast(11, Forecast::kExpected)), 1'200'000, 1);
  // The estimator is wrong by a factor of three for all of this backend.
  for (std::size_t n = 0; n < 8; ++n) {
    const auto ns = static_cast<std::int64_t>(300'000 * (n + 1));
    bounds.learn(n, Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 9});
  }
  bounds.fit();
  const auto corrected = static_cast<double>(bounds.forecast(11, Forecast::kExpected));
  EXPECT_GT(corrected, 2.5 * 1'200'000);
  EXPECT_LT(corrected, 3.5 * 1'200'000);
}

TEST(Estimates, AreToldOfACandidateInThePublishedForm) {
  auto problem = test::PoolProblem::chain(2);
  problem.add("a", {0, 1}, 1);
  const Candidate& candidate = problem.pool.candidates[0];
  const Json json = candidate_json(problem.graph, region_of(problem.pool, candidate), candidate,
                                   {.threads = 2, .accuracy = Accuracy::kStrict});
  EXPECT_EQ(test::schema_problem(json), "");
  EXPECT_EQ(test::schema_problem(json["region"]), "");
  EXPECT_EQ(json["backend"], "a");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["accuracy"], "strict");
  EXPECT_EQ(json["region"]["nodes"].size(), 2U);
}

class TuneWithEstimates : public ::testing::Test {
 protected:
  TuneWithEstimates() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }
  [[nodiscard]] TuneOptions options(EstimateOptions estimates) const {
    TuneOptions made = test::small_tune(scratch, {"onnxruntime", "test"});
    made.estimates = std::move(estimates);
    return made;
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(TuneWithEstimates, NothingIsMeasuredThatHasAnEstimateAndThePlanIsRight) {
  // Absurd: what is slow is said to be free.
  const auto report = tune(options(says(1, EstimateUse::kCost)), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(report->candidates, 0U);
  EXPECT_EQ(report->measured, 0U);
  EXPECT_GT(report->measured_us, 0) << "whole plans are timed all the same";
  test::expect_small_graph_numbers(report->plan, registry, {2.0F});
}

TEST_F(TuneWithEstimates, ForecastsLeaveThePlanRight) {
  const auto report = tune(options(says(1)), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(report->measured, 0U);
  test::expect_small_graph_numbers(report->plan, registry, {2.0F});
}

TEST_F(TuneWithEstimates, AnErrorOfTheEstimatorEndsTheTune) {
  EstimateOptions failing;
  failing.estimator = [](const Graph&, const Region&, const Candidate&) -> Result<std::optional<double>> {
    return fail(ExitCode::kUsage, "tune/estimate-failed", "estimator", "a division by zero");
  };
  const auto report = tune(options(failing), registry);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "tune/estimate-failed");
}

}  // namespace
}  // namespace collage
