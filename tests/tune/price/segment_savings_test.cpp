#include "tune/price/segment_savings.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

constexpr std::size_t kNodes = 4;

CoverStep step(const std::string& backend, std::initializer_list<std::size_t> nodes, std::int64_t ns) {
  CoverKernel kernel{.region = {.nodes = NodeSet(kNodes)}};
  for (const std::size_t n : nodes) kernel.region.nodes.insert(n);
  return {.backend = backend, .work = std::move(kernel), .cost = Estimated{.ns = ns}};
}

/// Steps of "x" are forecast, all as one computation: their cost, with this deviation.
FindForecast forecast_of_x(double deviation_ns) {
  return [=](const CoverStep& step) -> std::optional<ForecastStep> {
    if (step.backend != "x") return std::nullopt;
    return ForecastStep{
        .computation = 7, .mean_ns = static_cast<double>(*nanoseconds_of(step.cost)), .deviation_ns = deviation_ns};
  };
}

using Savings = std::map<std::uint32_t, double>;

TEST(SegmentSavings, AreTheDifferenceWhereForecastsAreCertain) {
  const Cover known = {.steps = {step("a", {0}, 100), step("a", {1}, 50)}};
  const Cover faster = {.steps = {step("x", {0}, 70), step("a", {1}, 50)}};
  const Cover slower = {.steps = {step("x", {0}, 170), step("a", {1}, 50)}};
  EXPECT_EQ(segment_savings(known, faster, forecast_of_x(0)), (Savings{{7, 30}}));
  EXPECT_EQ(segment_savings(known, slower, forecast_of_x(0)), (Savings{{7, 0}}));
  EXPECT_EQ(segment_savings(known, known, forecast_of_x(0)), Savings{}) << "nothing is forecast";
}

TEST(SegmentSavings, AreMoreTheLessIsCertain) {
  const Cover known = {.steps = {step("a", {0}, 100)}};
  const Cover equal = {.steps = {step("x", {0}, 100)}};
  EXPECT_NEAR(segment_savings(known, equal, forecast_of_x(10)).at(7), 3.989, 0.001) << "10 / sqrt(2 pi)";
  EXPECT_NEAR(segment_savings(known, equal, forecast_of_x(20)).at(7), 7.979, 0.001);
}

TEST(SegmentSavings, CompareWholeStepsOfBothCovers) {
  const Cover known = {.steps = {step("a", {0, 1}, 100), step("a", {2}, 30), step("a", {3}, 40)}};
  const Cover hoped = {.steps = {step("x", {0}, 60), step("b", {1, 2}, 60), step("a", {3}, 10)}};
  EXPECT_EQ(segment_savings(known, hoped, forecast_of_x(0)), (Savings{{7, 10}})) << "nodes 0 to 2, not 3";
}

TEST(SegmentSavings, AddUpWhereAComputationIsUsedAgain) {
  const Cover known = {.steps = {step("a", {0}, 100), step("a", {1}, 100)}};
  const Cover hoped = {.steps = {step("x", {0}, 80), step("x", {1}, 80)}};
  EXPECT_EQ(segment_savings(known, hoped, forecast_of_x(0)), (Savings{{7, 40}}));
}

TEST(SegmentSavings, CountWhatRunsTheBodiesOfAnOperator) {
  Cover known = {.steps = {step("bodies", {0}, 100)}};
  known.steps.front().work = CoverControl{.region = std::get<CoverKernel>(known.steps.front().work).region};
  const Cover hoped = {.steps = {step("x", {0}, 80)}};
  EXPECT_EQ(segment_savings(known, hoped, forecast_of_x(0)), (Savings{{7, 20}}));
}

}  // namespace
}  // namespace collage
