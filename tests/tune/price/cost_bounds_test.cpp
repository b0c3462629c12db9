#include "tune/price/cost_bounds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace collage {
namespace {

constexpr PeakRates kPeak{.flops_per_ns = 1, .bytes_per_ns = 1, .memory_bytes_per_ns = 1};

/// One convolution and these implementations of one backend.
class CostBoundsTest : public ::testing::Test {
 protected:
  [[nodiscard]] CostBounds bounds_of(const std::vector<std::string>& variants) {
    graph_ =
        parse_graph("graph(%x: f32[1,16,16,16], %w: f32[16,16,3,3]) -> (%y) { %y: f32[1,16,14,14] = Conv(%x, %w) }")
            .value();
    pool_.regions.push_back(whole_region(graph_, uses_of(graph_)));
    for (const std::string& variant : variants)
      pool_.candidates.push_back({.region = 0, .backend = "native", .variant = {.name = variant}});
    return {graph_, pool_, Accuracy::kStandard, kPeak, 1};
  }

  static void learn(CostBounds& bounds, std::size_t candidate, std::int64_t ns) {
    bounds.learn(candidate, Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 9});
  }

  Graph graph_;
  CandidatePool pool_;
};

TEST_F(CostBoundsTest, ExpectOfOneScheduleWhatAnotherShowed) {
  CostBounds bounds = bounds_of({"planes.plain/tile_c=1", "planes.plain/tile_c=2", "planes.nhwc", "direct.nhwc"});
  const std::int64_t before = bounds.forecast(0, Forecast::kExpected);
  learn(bounds, 0, 4 * before);
  bounds.fit();
  const std::int64_t other_schedule = bounds.forecast(1, Forecast::kExpected);
  const std::int64_t other_formats = bounds.forecast(2, Forecast::kExpected);
  const std::int64_t other_algorithm = bounds.forecast(3, Forecast::kExpected);
  EXPECT_GT(other_schedule, 3 * before);
  EXPECT_GE(other_schedule, other_formats);
  EXPECT_GT(other_formats, other_algorithm);
  EXPECT_GT(other_algorithm, before) << "something is learnt of the machine and the operator";
}

TEST_F(CostBoundsTest, NameAlgorithmsOfWhichNoTimeIsKnown) {
  CostBounds bounds = bounds_of({"planes.plain/tile_c=1", "planes.nhwc", "direct.nhwc"});
  ASSERT_TRUE(bounds.untried_algorithm(0));
  EXPECT_EQ(bounds.untried_algorithm(0), bounds.untried_algorithm(1)) << "formats and settings make no other algorithm";
  EXPECT_NE(bounds.untried_algorithm(0), bounds.untried_algorithm(2));
  learn(bounds, 0, bounds.forecast(0, Forecast::kExpected));
  bounds.fit();
  EXPECT_FALSE(bounds.untried_algorithm(1));
  EXPECT_TRUE(bounds.untried_algorithm(2));
  const CostBounds of_another_model(graph_, pool_, Accuracy::kStandard, kPeak, 1, {}, bounds.learnt());
  EXPECT_FALSE(of_another_model.untried_algorithm(1));
  EXPECT_TRUE(of_another_model.untried_algorithm(2));
}

TEST_F(CostBoundsTest, HopeForLessThanTheyExpect) {
  CostBounds bounds = bounds_of({"planes.plain"});
  EXPECT_LT(bounds.forecast(0, Forecast::kHopeful), bounds.forecast(0, Forecast::kExpected));
  EXPECT_LT(bounds.forecast(0, Forecast::kOpenMinded), bounds.forecast(0, Forecast::kExpected));
}

// What one convolution takes on a backend says more of another where the backend is no engine.
TEST_F(CostBoundsTest, AreLessSureOfEnginesThanOfKernels) {
  graph_ = parse_graph(
               "graph(%x: f32[1,16,16,16], %w: f32[16,16,3,3], %v: f32[16,16,1,1]) -> (%z) {"
               " %y: f32[1,16,14,14] = Conv(%x, %w)\n %z: f32[1,16,14,14] = Conv(%y, %v) }")
               .value();
  for (const std::size_t n : {0U, 1U}) {
    NodeSet one(2);
    one.insert(n);
    pool_.regions.push_back(make_region(graph_, uses_of(graph_), one));
    pool_.candidates.push_back({.region = static_cast<std::uint32_t>(n), .backend = "some", .variant = {.name = "a"}});
  }
  const auto hoped_part = [&](const IsEngine& is_engine) {
    CostBounds bounds(graph_, pool_, Accuracy::kStandard, kPeak, 1, {}, {}, is_engine);
    learn(bounds, 0, 40 * bounds.forecast(0, Forecast::kExpected));
    bounds.fit();
    return static_cast<double>(bounds.forecast(1, Forecast::kHopeful)) /
           static_cast<double>(bounds.forecast(1, Forecast::kExpected));
  };
  EXPECT_LT(hoped_part([](const std::string&) { return true; }), hoped_part([](const std::string&) { return false; }));
}

TEST_F(CostBoundsTest, ExpectASavingEvenWhereTheExpectedTimeSavesNothing) {
  CostBounds bounds = bounds_of({"first"});
  const auto expected_ns = static_cast<double>(bounds.forecast(0, Forecast::kExpected));
  EXPECT_EQ(bounds.expected_saving(0, 0), 0);
  EXPECT_GT(bounds.expected_saving(0, expected_ns), 0);
  double before = 0;
  for (const double part : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    const double saving = bounds.expected_saving(0, part * expected_ns);
    EXPECT_GT(saving, before) << "the longer the step that it replaces";
    EXPECT_LT(saving, part * expected_ns) << "not all of it";
    before = saving;
  }
}

TEST_F(CostBoundsTest, ExpectTheDifferenceAsASavingWhereTheTimeIsKnown) {
  CostBounds bounds = bounds_of({"first", "second"});
  const std::int64_t ns = 4 * bounds.forecast(0, Forecast::kExpected);
  for (int i = 0; i < 200; ++i) learn(bounds, 0, ns);
  bounds.fit();
  const auto known_ns = static_cast<double>(ns);
  EXPECT_NEAR(bounds.expected_saving(0, 2 * known_ns), known_ns, 0.1 * known_ns);
  EXPECT_NEAR(bounds.expected_saving(0, known_ns / 2), 0, 0.001 * known_ns);
}

}  // namespace
}  // namespace collage
