// The least work that a region can be done with.
#include "measure/roofline.h"

#include <gtest/gtest.h>

#include "ir/graph.h"

namespace collage {
namespace {

/// Multiplications and additions of one convolution of [1, 2, ...] to [1, 3, ...].
double flops_of(const std::string& text, Accuracy accuracy) {
  const Graph graph = parse_graph(text).value();
  return least_flops(graph, graph.nodes[0], accuracy);
}

TEST(LeastFlops, OfAConvolutionMaySaveWhatWinogradsTilesSaveAlongTwoAxes) {
  struct Case {
    std::string text;
    double direct;
    double saving;
  };
  const std::vector<Case> cases = {
      {"graph(%x: f32[1,2,8,8], %w: f32[3,2,3,3]) -> (%y) { %y: f32[1,3,6,6] = Conv(%x, %w) }", 2. * 3 * 36 * 18, 4},
      {"graph(%x: f32[1,2,8,8], %w: f32[3,2,3,3]) -> (%y) { %y: f32[1,3,4,4] = Conv(%x, %w) {dilations=[2,2]} }",
       2. * 3 * 16 * 18, 4},
      {"graph(%x: f32[1,2,8,8,8], %w: f32[3,2,3,3,3]) -> (%y) { %y: f32[1,3,6,6,6] = Conv(%x, %w) }", 2. * 3 * 216 * 54,
       4},
      {"graph(%x: f32[1,2,8,8], %w: f32[3,2,3,1]) -> (%y) { %y: f32[1,3,6,8] = Conv(%x, %w) }", 2. * 3 * 48 * 6, 2},
      // Nobody transforms rows alone, and nobody where there are strides.
      {"graph(%x: f32[1,2,8,8], %w: f32[3,2,1,3]) -> (%y) { %y: f32[1,3,8,6] = Conv(%x, %w) }", 2. * 3 * 48 * 6, 1},
      {"graph(%x: f32[1,2,8], %w: f32[3,2,3]) -> (%y) { %y: f32[1,3,6] = Conv(%x, %w) }", 2. * 3 * 6 * 6, 1},
      {"graph(%x: f32[1,2,8,8], %w: f32[3,2,3,3]) -> (%y) { %y: f32[1,3,3,3] = Conv(%x, %w) {strides=[2,2]} }",
       2. * 3 * 9 * 18, 1},
      {"graph(%x: f32[1,2,8,8], %w: f32[3,2,1,1]) -> (%y) { %y: f32[1,3,8,8] = Conv(%x, %w) }", 2. * 3 * 64 * 2, 1}};
  for (const Case& one : cases) {
    EXPECT_EQ(flops_of(one.text, Accuracy::kStrict), one.direct) << one.text;
    EXPECT_EQ(flops_of(one.text, Accuracy::kStandard), one.direct / one.saving) << one.text;
    EXPECT_EQ(flops_of(one.text, Accuracy::kFast), one.direct / one.saving) << one.text;
  }
}

}  // namespace
}  // namespace collage
