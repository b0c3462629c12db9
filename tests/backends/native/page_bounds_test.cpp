// Windows without padding read nothing before their source and nothing behind it, whatever loops Halide makes of them.
#include <cstring>

#include "narrow_fixture.h"
#include "region/narrow_variant.h"
#include "tests/support/guarded_pages.h"

namespace collage::test {
namespace {

/// The outputs of a kernel whose only input, of a multiple of 64 bytes as kernels take for granted, has a page at this
/// side that nobody may touch.
std::vector<float> outputs_beside_page(const Graph& graph, const Variant& variant, const Artifact& artifact,
                                       PageSide side) {
  const auto bytes = [&](ValueId id) { return byte_count(ElementType::kFloat32, graph.value(id).type.extents()); };
  const LoadRequest request = request_of(graph, variant, artifact);
  const auto kernel = loading().load(request);
  if (!kernel) {
    ADD_FAILURE() << to_string(kernel.error());
    return {};
  }
  const Tensor numbers = inputs_of(graph).front();
  const GuardedPages input(bytes(graph.inputs[0]), side);
  std::memcpy(input.data(), numbers.data.bytes().data(), bytes(graph.inputs[0]));
  const GuardedPages output(bytes(graph.outputs[0]), PageSide::kBefore);
  const GuardedPages workspace(artifact.workspace_bytes, PageSide::kBefore);
  auto call = (*kernel)->bind({.inputs = {input.data()}, .outputs = {output.data()}, .workspace = workspace.data()});
  EXPECT_TRUE(call && (*call)->run());
  std::vector<float> made(bytes(graph.outputs[0]) / sizeof(float));
  std::memcpy(made.data(), output.data(), bytes(graph.outputs[0]));
  return made;
}

/// Runs the variants whose name begins so; none is a finding.
void expect_same_beside_pages(const std::string& text, const std::string& name, const CompileOptions& options = {}) {
  const Graph graph = graph_of(text);
  std::size_t run = 0;
  for (const Variant& variant : variants_of(compiling(), graph, options)) {
    if (has_narrow_port(variant) || !variant.name.starts_with(name)) continue;
    SCOPED_TRACE(variant.name + "\n" + text);
    const Artifact artifact = artifact_of(compiling(), graph, variant, options);
    EXPECT_EQ(outputs_beside_page(graph, variant, artifact, PageSide::kBefore),
              outputs_beside_page(graph, variant, artifact, PageSide::kAfter));
    ++run;
  }
  EXPECT_GT(run, 0U) << "no " << name << " for " << text;
}

TEST(NativePageBounds, AreKeptByWindowsInFixedPoint) {
  const NarrowElement forced(ElementType::kBfloat16);
  for (const char* const text :
       {"graph(%x: f32[1,24,33,32], %w: f32[16,24,2,2]) -> (%y) { %y: f32[1,16,32,31] = Conv(%x, %w) "
        "{kernel_shape=[2,2]} }",
        "graph(%x: f32[2,12,9,24], %w: f32[20,12,3,3]) -> (%y) { %y: f32[2,20,4,11] = Conv(%x, %w) "
        "{kernel_shape=[3,3], strides=[2,2]} }",
        "graph(%x: f32[1,64,7,20], %w: f32[24,64,1,3]) -> (%y) { %y: f32[1,24,7,18] = Conv(%x, %w) "
        "{kernel_shape=[1,3]} }"})
    expect_same_beside_pages(text, "direct+i16.", fast_options());
}

TEST(NativePageBounds, AreKeptByDepthwiseWindows) {
  for (const char* const text :
       {"graph(%x: f32[1,24,13,24], %w: f32[24,1,3,3]) -> (%y) { %y: f32[1,24,11,22] = Conv(%x, %w) "
        "{group=24, kernel_shape=[3,3]} }",
        "graph(%x: f32[1,32,15,23], %w: f32[32,1,7,7]) -> (%y) { %y: f32[1,32,9,17] = Conv(%x, %w) "
        "{group=32, kernel_shape=[7,7]} }"})
    expect_same_beside_pages(text, "depthwise.");
}

}  // namespace
}  // namespace collage::test
