// A run of a kernel allocates nothing: every operator new of the process is counted, on any thread.
#include "backend/extensions/open_compiler.h"
#include "native_fixture.h"
#include "tests/support/allocation_count.h"

namespace collage::test {
namespace {

constexpr const char* kConvolution =
    "graph(%x: f32[1,32,12,12], %w: f32[32,32,3,3]) -> (%y) { "
    "%y: f32[1,32,12,12] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} }";
constexpr const char* kLong = "graph(%a: f32[1048576]) -> (%y) { %y: f32[1048576] = Tanh(%a) }";

struct alignas(64) Line {
  std::byte bytes[64];
};

class Allocation : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Allocation, NeverHappensInARun) {
  const auto& [text, threads] = GetParam();
  const Graph graph = graph_of(text);
  const CompileOptions options{.threads = threads};
  for (const Variant& variant : variants_of(compiling(), graph, options)) {
    SCOPED_TRACE(variant.name);
    const Artifact artifact = artifact_of(compiling(), graph, variant, options);
    const auto kernel = loading().load(request_of(graph, variant, artifact, threads));
    ASSERT_TRUE(kernel) << to_string(kernel.error());
    const ValueType& in = graph.value(graph.inputs[0]).type;
    const ValueType& out = graph.value(graph.outputs[0]).type;
    std::vector<Line> input(byte_count(in.element, in.extents()) / 64 + 1);
    std::vector<Line> output(byte_count(out.element, out.extents()) / 64 + 1);
    std::vector<Line> workspace(artifact.workspace_bytes / 64 + 1);
    const auto call =
        (*kernel)->bind({.inputs = {input.data()}, .outputs = {output.data()}, .workspace = workspace.data()});
    ASSERT_TRUE(call && (*call)->run()) << "the first run starts the threads";
    const std::size_t before = allocation_count();
    bool all_ran = true;
    for (int i = 0; i < 5; ++i) all_ran = (*call)->run().has_value() && all_ran;
    EXPECT_EQ(allocation_count(), before);
    EXPECT_TRUE(all_ran);
    EXPECT_GT(before, 0U) << "they are counted at all";
  }
}

TEST(OpenAllocation, NeverHappensInARunNorWhenAKernelIsFound) {
  const Graph graph = graph_of("graph(%a: f32[M,24], %w: f32[24,32]) -> (%y) { %y: f32[M,32] = MatMul(%a, %w) }");
  const Variant formats{.name = "", .input_formats = {plain()}, .output_formats = {plain()}};
  const Artifact artifact = artifact_of(compiling(), graph, variants_of(compiling(), graph).front());
  const auto kernel = loading().load(request_of(graph, formats, artifact));
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  const auto& kernels = *(*kernel)->as_open()->as_multi();
  const std::vector<Extents> extents = {{17, 24}};
  std::vector<Line> input(17 * 24 * 4 / 64 + 1);
  const auto call = kernels.bind_at({.inputs = {input.data()}, .outputs = {nullptr}}, extents);
  ASSERT_TRUE(call && (*call)->run());
  const std::size_t before = allocation_count();
  EXPECT_TRUE((*call)->run());
  EXPECT_EQ(kernels.choice(extents), 0U);
  EXPECT_TRUE((*call)->dynamic_output(0));
  EXPECT_LE(allocation_count(), before + 1) << "the extents of the output";
}

INSTANTIATE_TEST_SUITE_P(Kernels, Allocation,
                         testing::Combine(testing::Values(kConvolution, kLong), testing::Values(1, 2)));

}  // namespace
}  // namespace collage::test
