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

TEST_F(CostBoundsTest, HopeForLessThanTheyExpect) {
  CostBounds bounds = bounds_of({"planes.plain"});
  EXPECT_LT(bounds.forecast(0, Forecast::kHopeful), bounds.forecast(0, Forecast::kExpected));
  EXPECT_LT(bounds.forecast(0, Forecast::kOpenMinded), bounds.forecast(0, Forecast::kExpected));
}

}  // namespace
}  // namespace collage
