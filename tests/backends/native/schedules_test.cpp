// Schedules beyond those offered: whatever the space of a kernel has compiles and is right; whatever it has not is
// refused, however a name is forged.
#include <set>

#include "backend/extensions/tuning_extension.h"
#include "native_fixture.h"
#include "search/settings_search.h"
#include "tests/support/dice.h"
#include "tests/support/long_run.h"

namespace collage::test {
namespace {

constexpr const char* kPointwise =
    "graph(%x: f32[1,32,9,9], %w: f32[48,32,1,1]) -> (%y) { %y: f32[1,48,9,9] = Conv(%x, %w) {kernel_shape=[1,1]} }";
constexpr const char* kSquare =
    "graph(%x: f32[1,32,11,13], %w: f32[64,32,3,3], %wb: f32[64]) -> (%y) { %y: f32[1,64,11,13] = Conv(%x, %w, %wb) "
    "{kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kDepthwise =
    "graph(%x: f32[1,40,12,12], %w: f32[40,1,3,3]) -> (%y) { %y: f32[1,40,12,12] = Conv(%x, %w) {group=40, "
    "kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kGrouped =
    "graph(%x: f32[1,64,7,7], %w: f32[128,16,3,3]) -> (%y) { %y: f32[1,128,7,7] = Conv(%x, %w) {group=4, "
    "kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kOddGroups =
    "graph(%x: f32[1,12,7,35], %w: f32[18,4,3,3]) -> (%y) { %y: f32[1,18,7,35] = Conv(%x, %w) {group=3, "
    "kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kProduct =
    "graph(%a: f32[1,13,72], %w: f32[72,50]) -> (%y) { %y: f32[1,13,50] = MatMul(%a, %w) }";
constexpr const char* kBatch =
    "graph(%a: f32[3,13,24], %b: f32[3,24,50]) -> (%y) { %y: f32[3,13,50] = MatMul(%a, %b) }";
constexpr const char* kPool =
    "graph(%x: f32[1,20,9,9]) -> (%y) { %y: f32[1,20,9,9] = MaxPool(%x) {kernel_shape=[3,3], pads=[1,1,1,1]} }";

constexpr const char* kBytes =
    "graph(%x: u8[1,40,9,7], %w: i8[40,40,3,3], %wps: f32[40], %wb: i32[40]) -> (%y) { constant %s = f32[]{0.05} "
    "constant %z = u8[]{3} constant %wz = i8[]{0} constant %t = f32[]{0.4} constant %o = u8[]{100} %y: u8[1,40,9,7] = "
    "QLinearConv(%x, %s, %z, %w, %wps, %wz, %t, %o, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kDepthwiseBytes =
    "graph(%x: f32[1,20,9,9], %w: i8[20,1,3,3]) -> (%y) { constant %t = f32[]{0.6} %e: f32[20,1,3,3] = "
    "DequantizeLinear(%w, %t) %y: f32[1,20,7,7] = Conv(%x, %e) {group=20, kernel_shape=[3,3]} }";
constexpr const char* kScaled =
    "graph(%a: f32[2,5,30], %w: u8[30,40]) -> (%y) { constant %t = f32[]{0.6} %e: f32[30,40] = DequantizeLinear(%w, "
    "%t) %y: f32[2,5,40] = MatMul(%a, %e) }";
constexpr const char* kTransposed =
    "graph(%x: f32[1,12,7,9], %w: f32[12,35,3,3]) -> (%y) { %y: f32[1,35,13,17] = ConvTranspose(%x, %w) "
    "{kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]} }";
constexpr const char* kTransposedGroups =
    "graph(%x: f32[1,16,5,6], %w: f32[16,12,4,4]) -> (%y) { %y: f32[1,24,10,12] = ConvTranspose(%x, %w) {group=2, "
    "kernel_shape=[4,4], strides=[2,2], pads=[1,1,1,1]} }";
constexpr const char* kMerged =
    "graph(%x: f32[1,3,50,16], %w: f32[48,40]) -> (%y) { constant %join = i64[3]{1,50,48} %t: f32[1,50,3,16] = "
    "Transpose(%x) {perm=[0,2,1,3]} %r: f32[1,50,48] = Reshape(%t, %join) %y: f32[1,50,40] = MatMul(%r, %w) }";
constexpr const char* kBottleneck =
    "graph(%x: f32[1,16,12,11], %w: f32[40,16,1,1], %wd: f32[40,1,3,3], %we: f32[24,40,1,1]) -> (%y) { %a: "
    "f32[1,40,12,11] = Conv(%x, %w) {kernel_shape=[1,1]} %b: f32[1,40,12,11] = Relu(%a) %c: f32[1,40,12,11] = "
    "Conv(%b, %wd) {group=40, kernel_shape=[3,3], pads=[1,1,1,1]} %d: f32[1,40,12,11] = Relu(%c) %y: "
    "f32[1,24,12,11] = Conv(%d, %we) {kernel_shape=[1,1]} }";
constexpr const char* kProjected =
    "graph(%x: f32[1,40,12,11], %wd: f32[40,1,3,3], %we: f32[24,40,1,1]) -> (%y) { %c: f32[1,40,6,6] = Conv(%x, %wd) "
    "{group=40, kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} %y: f32[1,24,6,6] = Conv(%c, %we) "
    "{kernel_shape=[1,1]} }";
constexpr const char* kAttention =
    "graph(%q: f32[1,2,37,20], %k: f32[1,2,20,41], %v: f32[1,2,41,24]) -> (%y) { constant %c = f32[]{0.3} %s: "
    "f32[1,2,37,41] = MatMul(%q, %k) %t: f32[1,2,37,41] = Mul(%s, %c) %p: f32[1,2,37,41] = Softmax(%t) {axis=-1} %y: "
    "f32[1,2,37,24] = MatMul(%p, %v) }";
constexpr const char* kResponse =
    "graph(%x: f32[2,12,5,9]) -> (%y) { %y: f32[2,12,5,9] = LRN(%x) {alpha=0.5, beta=0.75, bias=1.5, size=5} }";

class Schedules : public testing::TestWithParam<const char*> {};

/// A few settings of each way, drawn anew.
TEST_P(Schedules, OfTheWholeSpaceAreRight) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const Graph graph = graph_of(GetParam());
  const std::vector<Tensor> expected = expected_of(graph);
  for (const std::string instance : {"native", "native:isa=avx2"}) {
    std::set<std::string> ways;
    for (const Variant& offered : variants_of(compiling(instance), graph)) {
      // A library's call and places side by side have nothing to tune.
      if (offered.name.starts_with("sgemm") || offered.name.starts_with("response_pixels")) continue;
      const auto space = tuning_space(compiling(instance), graph, region_of(graph), offered, {});
      ASSERT_TRUE(space) << offered.name;
      EXPECT_FALSE(space->seeds.empty()) << offered.name;
      EXPECT_TRUE(settings_of(*space, offered.name)) << "an offered schedule outside of its space: " << offered.name;
      if (!ways.insert(space->way).second) continue;
      SettingsSearch search(*space, 5);
      for (const Settings& known : space->seeds) search.learn(known, std::nullopt);
      for (const Settings& settings : search.next(by_length<std::size_t>(1, 3))) {
        Variant variant = offered;
        variant.name = name_of(*space, settings);
        EXPECT_EQ(problem_of(graph, expected, variant, {}, instance), "") << instance << " " << variant.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Schedules,
                         testing::Values(kPointwise, kSquare, kDepthwise, kGrouped, kOddGroups, kProduct, kBatch, kPool,
                                         kBytes, kDepthwiseBytes, kScaled, kTransposed, kTransposedGroups, kMerged,
                                         kBottleneck, kProjected, kAttention, kResponse));

class ForgedName : public testing::TestWithParam<const char*> {};

TEST_P(ForgedName, IsRefused) {
  const Graph graph = graph_of(kSquare);
  Variant variant = variant_of(compiling(), graph, "direct.");
  variant.name = GetParam();
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
  const auto made = compiling().compile({&request, 1}, {});
  ASSERT_EQ(made.size(), 1U);
  ASSERT_FALSE(made[0]) << variant.name;
  EXPECT_EQ(made[0].error().reason, RefusalReason::kCompile) << made[0].error().detail;
  EXPECT_FALSE(tuning_space(compiling(), graph, region_of(graph), variant, {}));
}

INSTANTIATE_TEST_SUITE_P(
    Names, ForgedName,
    testing::Values("", "/", ".", "direct", "direct.nhwc", "direct.nhwc/", "direct.nhwc/rows=0", "direct.nhwc/tile_x",
                    "direct.nhwc/rows=0,tile_c=2,tile_x=4", "direct.nhwc/rows=0,tile_c=0,tile_x=4,unroll=1",
                    "direct.nhwc/rows=0,tile_c=-1,tile_x=4,unroll=1", "direct.nhwc/rows=0,tile_c=6,tile_x=28,unroll=1",
                    "direct.nhwc/rows=0,tile_c=2,tile_x=14,unroll=3", "direct.nhwc/rows=2,tile_c=2,tile_x=4,unroll=1",
                    "direct.nhwc/rows=0,tile_c=1,tile_x=4,unroll=1,more=1",
                    "direct.plain/rows=0,tile_c=1,tile_x=4,unroll=1", "direct.other/rows=0,tile_c=1,tile_x=4,unroll=1",
                    "winograd4.nhwc", "winograd4.nhwc/columns=1,outer=0,rows=0,tile_c=1,tile_t=1",
                    "winograd4.nhwc/columns=1,outer=0,rows=64,tile_c=1,tile_t=1",
                    "winograd4.nhwc/columns=64,outer=0,rows=1,tile_c=1,tile_t=1",
                    "winograd4.nhwc/rows=1,tile_c=1,tile_t=1", "depthwise.nhwc/blocks=1,tile_x=1,tile_y=1",
                    "rows.plain", "nothing.nhwc/rows=0",
                    "direct.nhwc/rows=99999999999999999999,tile_c=1,tile_x=4,unroll=1"));

TEST(Schedules, WithoutChoicesHaveNoSpace) {
  const Graph graph = graph_of("graph(%a: f32[2,8]) -> (%y) { %y: f32[2,8] = Relu(%a) }");
  for (const Variant& variant : variants_of(compiling(), graph))
    EXPECT_FALSE(tuning_space(compiling(), graph, region_of(graph), variant, {}));
}

}  // namespace
}  // namespace collage::test
