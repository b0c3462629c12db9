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

/// Steps of "x" are forecast, all as computation 7, those of "y" as 8: their cost, with this deviation.
FindForecast forecast_of_x(double deviation_ns) {
  return [=](const CoverStep& step) -> std::optional<ForecastStep> {
    if (step.backend != "x" && step.backend != "y") return std::nullopt;
    const std::uint32_t computation = step.backend == "x" ? 7 : 8;
    return ForecastStep{.computation = computation,
                        .mean_ns = static_cast<double>(*nanoseconds_of(step.cost)),
                        .deviation_ns = deviation_ns};
  };
}

using Savings = std::map<std::uint32_t, double>;

Savings savings_of(const Cover& known, const Cover& hoped, double deviation_ns = 0) {
  Savings savings;
  for (const auto& [computation, saving] : segment_savings(known, hoped, forecast_of_x(deviation_ns)))
    savings[computation] = saving.ns;
  return savings;
}

TEST(SegmentSavings, AreTheDifferenceWhereForecastsAreCertain) {
  const Cover known = {.steps = {step("a", {0}, 100), step("a", {1}, 50)}};
  const Cover faster = {.steps = {step("x", {0}, 70), step("a", {1}, 50)}};
  const Cover slower = {.steps = {step("x", {0}, 170), step("a", {1}, 50)}};
  EXPECT_EQ(savings_of(known, faster), (Savings{{7, 30}}));
  EXPECT_EQ(savings_of(known, slower), (Savings{{7, 0}}));
  EXPECT_EQ(savings_of(known, known), Savings{}) << "nothing is forecast";
}

TEST(SegmentSavings, AreMoreTheLessIsCertain) {
  const Cover known = {.steps = {step("a", {0}, 100)}};
  const Cover equal = {.steps = {step("x", {0}, 100)}};
  EXPECT_NEAR(savings_of(known, equal, 10).at(7), 3.989, 0.001) << "10 / sqrt(2 pi)";
  EXPECT_NEAR(savings_of(known, equal, 20).at(7), 7.979, 0.001);
}

TEST(SegmentSavings, CompareWholeStepsOfBothCovers) {
  const Cover known = {.steps = {step("a", {0, 1}, 100), step("a", {2}, 30), step("a", {3}, 40)}};
  const Cover hoped = {.steps = {step("x", {0}, 60), step("b", {1, 2}, 60), step("a", {3}, 10)}};
  EXPECT_EQ(savings_of(known, hoped), (Savings{{7, 10}})) << "nodes 0 to 2, not 3";
}

TEST(SegmentSavings, AddUpWhereAComputationIsUsedAgain) {
  const Cover known = {.steps = {step("a", {0}, 100), step("a", {1}, 100)}};
  const Cover hoped = {.steps = {step("x", {0}, 80), step("x", {1}, 80)}};
  EXPECT_EQ(savings_of(known, hoped), (Savings{{7, 40}}));
}

TEST(SegmentSavings, AreSharedByWhatIsForecastInASegment) {
  const Cover known = {.steps = {step("a", {0, 1}, 100), step("a", {2}, 50)}};
  const Cover hoped = {.steps = {step("x", {0}, 40), step("y", {1}, 20), step("x", {2}, 20)}};
  const auto savings = segment_savings(known, hoped, forecast_of_x(0));
  EXPECT_EQ(savings.at(7).ns, 70);
  EXPECT_EQ(savings.at(7).share_ns, 20 + 30);
  EXPECT_EQ(savings.at(8).share_ns, 20);
}

TEST(SegmentSavings, CountWhatRunsTheBodiesOfAnOperator) {
  Cover known = {.steps = {step("bodies", {0}, 100)}};
  known.steps.front().work = CoverControl{.region = std::get<CoverKernel>(known.steps.front().work).region};
  const Cover hoped = {.steps = {step("x", {0}, 80)}};
  EXPECT_EQ(savings_of(known, hoped), (Savings{{7, 20}}));
}

}  // namespace
}  // namespace collage
