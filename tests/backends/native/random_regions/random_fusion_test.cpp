// Random fused regions in every variant that the compiler offers, against ONNX Runtime without optimisation.
// COLLAGE_LONG=1 draws 2700 regions; COLLAGE_TEST_SEED=N begins with another seed.
#include <cstdlib>

#include "tests/backends/native/native_fixture.h"
#include "tests/backends/native/random_regions/random_region.h"
#include "tests/support/dice.h"
#include "tests/support/long_run.h"

namespace collage::test {
namespace {

struct Share {
  RegionKind kind;
  int usual;  ///< of 43
  int full;   ///< of 2700
};

std::uint64_t first_seed() {
  const char* given = std::getenv("COLLAGE_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

/// Everything that a seed says beside the region.
struct Setting {
  explicit Setting(std::uint64_t seed) {
    Dice dice(seed + 77);
    options.threads = dice.one_in(3) ? 2 : 1;
    if (dice.one_in(4)) options.accuracy = Accuracy::kStrict;
    if (dice.one_in(4)) instance = "native:isa=avx2";
  }
  CompileOptions options;
  std::string instance = "native";
};

/// Halide's autoscheduler takes no pipeline whose simplified form leaves a stage unused, such as (a + b) - a.
bool is_beyond_autoscheduler(const Variant& variant, const std::string& problem) {
  return variant.name.starts_with("automatic") && problem.contains("Pipeline_bounds is missing");
}

class RandomFusion : public testing::TestWithParam<Share> {};

TEST_P(RandomFusion, ComputesWhatTheReferenceDoes) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const Share share = GetParam();
  const int wanted = by_length(share.usual, share.full);
  int regions = 0;
  int variants_run = 0;
  int refused = 0;
  int unscheduled = 0;
  for (std::uint64_t seed = first_seed(); regions < wanted; ++seed) {
    const Setting setting(seed);
    const std::string text = random_region(share.kind, seed);
    SCOPED_TRACE(name_of(share.kind) + " seed " + std::to_string(seed) + ", " + setting.instance + ", " +
                 std::to_string(setting.options.threads) + " threads, " +
                 std::string(name_of(setting.options.accuracy)) + '\n' + text);
    const Graph graph = graph_of(text);
    ASSERT_TRUE(verify(graph));
    const auto variants = compiling(setting.instance).support(graph, region_of(graph), setting.options);
    if (!variants) {
      ASSERT_LT(++refused, 20 + 4 * wanted) << name_of(variants.error().reason) << ": " << variants.error().detail;
      continue;
    }
    ++regions;
    const std::vector<Tensor> expected = expected_of(graph);
    const std::vector<Tensor> sizes = sizes_of(graph);
    for (const Variant& variant : *variants) {
      SCOPED_TRACE(variant.name);
      const std::string problem = problem_of(graph, expected, variant, setting.options, setting.instance, sizes);
      if (is_beyond_autoscheduler(variant, problem)) {
        ++unscheduled;
        continue;
      }
      EXPECT_EQ(problem, "");
      ++variants_run;
    }
  }
  RecordProperty("variants", variants_run);
  RecordProperty("refused", refused);
  ASSERT_LT(50 * unscheduled, 100 + variants_run) << "a rare form of graph";
}

INSTANTIATE_TEST_SUITE_P(Regions, RandomFusion,
                         testing::Values(Share{RegionKind::kElementwise, 8, 500},
                                         Share{RegionKind::kConvolution, 7, 500}, Share{RegionKind::kDepthwise, 3, 200},
                                         Share{RegionKind::kTransposed, 4, 200}, Share{RegionKind::kSeparable, 3, 200},
                                         Share{RegionKind::kProduct, 5, 300}, Share{RegionKind::kPooling, 2, 150},
                                         Share{RegionKind::kRows, 3, 250}, Share{RegionKind::kMoves, 2, 100},
                                         Share{RegionKind::kQuantised, 6, 300}),
                         [](const testing::TestParamInfo<Share>& share) { return name_of(share.param.kind); });

}  // namespace
}  // namespace collage::test
