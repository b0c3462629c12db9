// What Winograd costs in accuracy, by tile and number of channels: the table in docs/NUMBERS.md, and its bounds.
#include <cmath>
#include <cstdio>

#include "native_fixture.h"
#include "tests/backends/onednn/naive.h"

namespace collage::test {
namespace {

struct ErrorCase {
  const char* implementation;
  int channels;
  double bound;  ///< largest error over largest output; about three times what was seen
};

void PrintTo(const ErrorCase& one, std::ostream* out) { *out << one.implementation << ' ' << one.channels; }

class WinogradError : public testing::TestWithParam<ErrorCase> {};

/// Of planes: 3x3x3, transformed along height and depth.
Graph convolution_of(int channels, bool of_planes) {
  const std::string c = std::to_string(channels);
  if (of_planes)
    return graph_of("graph(%x: f32[1," + c + ",8,8,16], %w: f32[16," + c +
                    ",3,3,3]) -> (%y) { %y: f32[1,16,8,8,16] = Conv(%x, %w) {kernel_shape=[3,3,3], "
                    "pads=[1,1,1,1,1,1]} }");
  return graph_of("graph(%x: f32[1," + c + ",14,14], %w: f32[16," + c +
                  ",3,3]) -> (%y) { %y: f32[1,16,14,14] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} }");
}

Numbers exact(const Graph& graph) {
  std::map<ValueId, Numbers> known;
  const auto add = [&](ValueId id, const Tensor& tensor) {
    const auto numbers = tensor.data.as<float>();
    known[id] = Numbers(numbers.begin(), numbers.end());
  };
  const std::vector<Tensor> inputs = inputs_of(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) add(graph.inputs[i], inputs[i]);
  return compute(graph, std::move(known)).at(graph.outputs[0]);
}

TEST_P(WinogradError, StaysWithinItsBound) {
  const auto& [implementation, channels, bound] = GetParam();
  const Graph graph = convolution_of(channels, std::string_view(implementation).ends_with("_planes"));
  const Variant variant = variant_of(compiling(), graph, std::string(implementation) + ".");
  const auto outputs = run_variant(graph, variant);
  ASSERT_EQ(outputs.size(), 1U);
  const auto seen = outputs[0].data.as<float>();
  const Numbers wanted = exact(graph);
  ASSERT_EQ(seen.size(), wanted.size());
  double error = 0;
  double largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(seen[i]) - wanted[i]));
    largest = std::max(largest, std::abs(wanted[i]));
  }
  std::printf("%-16s %5d channels: %.1e of the largest output\n", implementation, channels, error / largest);
  EXPECT_GT(largest, 0);
  EXPECT_LT(error, bound * largest);
}

INSTANTIATE_TEST_SUITE_P(
    Tiles, WinogradError,
    testing::Values(ErrorCase{"direct", 16, 1.5e-6}, ErrorCase{"direct", 64, 2.5e-6}, ErrorCase{"direct", 256, 5e-6},
                    ErrorCase{"direct", 512, 8e-6}, ErrorCase{"winograd2", 16, 6e-7}, ErrorCase{"winograd2", 64, 1e-6},
                    ErrorCase{"winograd2", 256, 2e-6}, ErrorCase{"winograd2", 512, 3e-6},
                    ErrorCase{"winograd4", 16, 6e-6}, ErrorCase{"winograd4", 64, 1.5e-5},
                    ErrorCase{"winograd4", 256, 2.5e-5}, ErrorCase{"winograd4", 512, 4e-5},
                    ErrorCase{"winograd2_planes", 16, 1e-6}, ErrorCase{"winograd2_planes", 64, 2e-6},
                    ErrorCase{"winograd4_planes", 16, 1.2e-5}, ErrorCase{"winograd4_planes", 64, 2.5e-5}));

}  // namespace
}  // namespace collage::test
