#include "tune/shapes/shape_samples.h"
#include "tune/shapes/shape_gaps.h"
#include "tune/shapes/shape_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collage {
namespace {

using ::testing::ElementsAre;

ShapeDomain batch_and_seq() { return {{{"batch", 1, 8}, {"seq", 16, 128}}}; }

TEST(ShapeSamples, LaddersDoubleBetweenTheBoundsAndKeepTheEnds) {
  EXPECT_THAT(ladder({"n", 1, 8}, 16), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(ladder({"n", 16, 128}, 16), ElementsAre(16, 32, 64, 128));
  EXPECT_THAT(ladder({"n", 3, 20}, 16), ElementsAre(3, 6, 12, 20));
  EXPECT_THAT(ladder({"n", 0, 5}, 16), ElementsAre(0, 1, 2, 4, 5));
  EXPECT_THAT(ladder({"n", 7, 7}, 16), ElementsAre(7));
  EXPECT_THAT(ladder({"n", 1, 1024}, 4), ElementsAre(1, 8, 128, 1024));
  EXPECT_THAT(ladder({"n", 1, INT64_MAX}, 2), ElementsAre(1, INT64_MAX));
}

TEST(ShapeSamples, AreTheGridOfTheLadders) {
  const auto samples = choose_samples(batch_and_seq(), {}, 16);
  ASSERT_EQ(samples.size(), 16U);
  EXPECT_EQ(samples.front().point, (ShapePoint{1, 16}));
  EXPECT_EQ(samples.back().point, (ShapePoint{8, 128}));
}

TEST(ShapeSamples, AreThinnedEvenlyToTheNumberAllowed) {
  for (const std::size_t most : {1U, 2U, 4U, 6U, 9U, 12U}) {
    const auto samples = choose_samples(batch_and_seq(), {}, most);
    EXPECT_LE(samples.size(), most);
    EXPECT_EQ(samples.back().point, (ShapePoint{8, 128})) << "the largest shape always";
    if (most >= 4) {
      EXPECT_EQ(samples.front().point, (ShapePoint{1, 16}));
    }
  }
  ShapeDomain many;
  for (int d = 0; d < 40; ++d) many.dimensions.push_back({"d" + std::to_string(100 + d), 1, 1000});
  EXPECT_LE(choose_samples(many, {}, 16).size(), 16U);
}

TEST(ShapeSamples, ContainWhatIsAskedForWithItsWeight) {
  const ShapeSample between = parse_sample(batch_and_seq(), "batch=3,seq=100:4").value();
  const ShapeSample corner = parse_sample(batch_and_seq(), "seq=16,batch=1:2.5").value();
  EXPECT_EQ(between, (ShapeSample{.point = {3, 100}, .weight = 4, .is_asked = true}));
  const auto samples = choose_samples(batch_and_seq(), {between, corner}, 16);
  EXPECT_EQ(samples.size(), 17U);
  EXPECT_EQ(samples.front(), corner);
  EXPECT_TRUE(std::ranges::find(samples, between) != samples.end());
}

TEST(ShapeSamples, AreRefusedWhenTheyAreNoPointOfTheDomain) {
  const auto code = [](const std::string& text) {
    const auto sample = parse_sample(batch_and_seq(), text);
    return sample ? "ok" : sample.error().code;
  };
  EXPECT_EQ(code("batch=3,seq=100"), "ok");
  EXPECT_EQ(code("batch=3"), "shape/unbound");
  EXPECT_EQ(code("batch=9,seq=100"), "shape/outside");
  EXPECT_EQ(code("batch=3,seq=100,k=1"), "shape/unknown-dimension");
  EXPECT_EQ(code("batch=3,batch=4,seq=100"), "shape/twice");
  for (const char* bad : {"", "batch", "batch=3,", "=3", "batch=x,seq=16", "batch=3,seq=16:", "batch=3,seq=16:0",
                          "batch=3,seq=16:-1", "batch=3,seq=16:nan", "batch=3,seq=1..2"})
    EXPECT_EQ(code(bad), "shape/malformed") << bad;
}

TEST(ShapeSamples, LieHalfwayOnALineBetweenTwo) {
  EXPECT_EQ(halfway({1, 16}, {1, 32}), (ShapePoint{1, 24}));
  EXPECT_EQ(halfway({4, 16}, {1, 16}), (ShapePoint{2, 16}));
  EXPECT_EQ(halfway({1, 16}, {2, 16}), std::nullopt) << "nothing between";
  EXPECT_EQ(halfway({1, 16}, {2, 32}), std::nullopt) << "not on one line";
  EXPECT_EQ(halfway({1, 16}, {1, 16}), std::nullopt);
}

Plan plan_of(const std::string& backend) {
  Plan plan;
  plan.steps.push_back({.backend = backend, .work = PlanKernel{.nodes = {.names = {"a"}}}});
  return plan;
}

TEST(ShapeGaps, AreBetweenNeighboursWhosePlansDiffer) {
  const Plan one = plan_of("one");
  const Plan other = plan_of("other");
  const std::vector<PlannedPoint> line = {{{1}, &one}, {{8}, &one}, {{16}, &other}, {{128}, &other}};
  EXPECT_EQ(widest_gap(line, {}), (ShapePoint{12}));
  EXPECT_EQ(widest_gap(line, std::vector<ShapePoint>{{12}}), std::nullopt) << "tried before";
  const std::vector<PlannedPoint> equal = {{{1}, &one}, {{128}, &one}};
  EXPECT_EQ(widest_gap(equal, {}), std::nullopt);
  const std::vector<PlannedPoint> grid = {{{1, 16}, &one}, {{1, 128}, &other}, {{4, 16}, &other}, {{4, 128}, &other}};
  EXPECT_EQ(widest_gap(grid, {}), (ShapePoint{1, 72})) << "eight times apart, not four";
  EXPECT_EQ(widest_gap(grid, std::vector<ShapePoint>{{1, 72}}), (ShapePoint{2, 16}));
}

ConfirmLane lane(const std::string& name, std::int64_t ns, const std::string& failure = "") {
  return {.lane = {.name = name, .samples_ns = std::vector<std::int64_t>(20, ns)}, .step_ns = {}, .failure = failure};
}

TEST(ShapeTimes, ChooseTheFastestOfThoseThatWereRightEverywhere) {
  std::vector<PointTimes> points(2);
  take_times({lane("a", 4000), lane("b", 1000), lane(kCaseLane, 2000)}, points[0]);
  take_times({lane("a", 1000), lane("b", 0, "wrong"), lane(kCaseLane, 500)}, points[1]);
  EXPECT_EQ(points[0].case_us, 2);
  EXPECT_GT(points[0].lead.at("b"), 1.9);
  EXPECT_LT(points[0].lead.at("a"), 0.6);
  const auto means = mean_times(points);
  EXPECT_EQ(means.size(), 1U);
  EXPECT_NEAR(means.at("a"), 2, 1e-9);
  EXPECT_EQ(fastest(means), "a");
  EXPECT_EQ(fastest({}), std::nullopt);
  EXPECT_TRUE(mean_times({}).empty());
}

}  // namespace
}  // namespace collage
