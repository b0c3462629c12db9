// What cuDNN itself says of our graphs, where it is (libcudnn.so.9 and CUDA's libraries in LD_LIBRARY_PATH). It needs
// no GPU to check descriptors.
#include "backends/cudnn/operation_graph.h"
#include "tests/support/written_graph.h"

namespace collage::test {
namespace {

TEST(CudnnItself, TakesOurGraphs) {
  const auto library = cudnn::open_library("");
  if (!library) GTEST_SKIP() << library.error();
  for (const char* text :
       {"graph(%x: f32[1,8,9,9], %w: f32[4,8,3,3]) -> (%z) { %z: f32[1,4,7,7] = Conv(%x, %w) }",
        "graph(%x: f32[1,8,9,9], %r: f32[1,4,9,9], %w: f32[4,8,3,3], %wb: f32[4]) -> (%z) { "
        "%c: f32[1,4,9,9] = Conv(%x, %w, %wb) {pads=[1,1,1,1]} %s: f32[1,4,9,9] = Add(%c, %r) "
        "%z: f32[1,4,9,9] = LeakyRelu(%s) {alpha=0.1} }",
        "graph(%x: f32[2,8,9], %w: f32[8,1,3]) -> (%z) { %c: f32[2,8,4] = Conv(%x, %w) {group=8, strides=[2]} "
        "%z: f32[2,8,4] = Sigmoid(%c) }",
        "graph(%x: f32[1,2,5,5,5], %w: f32[3,2,2,2,2]) -> (%z) { %c: f32[1,3,4,4,4] = Conv(%x, %w) "
        "%z: f32[1,3,4,4,4] = Tanh(%c) }"}) {
    const Graph graph = graph_of(text);
    for (const Format& format : {plain(), channels_last()}) {
      const auto description = cudnn::describe(graph, region_of(graph), format);
      ASSERT_TRUE(description) << text << description.error().detail;
      EXPECT_NO_THROW((void)cudnn::plan_at(*library, nullptr, *description, 0, false, 0)) << text << format.name;
    }
  }
}

}  // namespace
}  // namespace collage::test
