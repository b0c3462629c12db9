// Many calls of one kernel at once, each with the library's runtime of its own, and kernels that share a pool.
#include <thread>

#include "xnnpack_fixture.h"

namespace collage::test {
namespace {

/// Binds one call in each of several threads and runs it often; every result must be that of the first.
void run_at_once(const std::string& text, int threads) {
  const Graph graph = graph_of(text);
  const Variant variant = variants_of(graph).at(0);
  const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant.name, threads);
  const auto kernel = loading("xnnpack").load(request_of(graph, variant, artifact, threads));
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  const std::vector<float> x = numbers_of(graph, graph.inputs[0]);
  const auto count = static_cast<std::size_t>(element_count(graph.value(graph.outputs[0]).type.extents()));
  std::vector<std::vector<float>> results(4, std::vector<float>(count));
  std::vector<std::thread> callers;
  for (std::vector<float>& result : results)
    callers.emplace_back([&] {
      auto call = (*kernel)->bind({.inputs = {x.data()}, .outputs = {result.data()}});
      ASSERT_TRUE(call) << to_string(call.error());
      for (int i = 0; i < 20; ++i) EXPECT_TRUE((*call)->run());
    });
  for (std::thread& caller : callers) caller.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results[0]) << text;
}

TEST(XnnpackThreads, GiveTheSameNumbersToCallsAtOnce) {
  for (const int threads : {1, 2}) {
    run_at_once(
        "graph(%x: f32[1,32,20,20], %w: f32[32,32,3,3]) -> (%y) { %c: f32[1,32,20,20] = Conv(%x, %w) "
        "{pads=[1,1,1,1]} %y: f32[1,32,20,20] = Sigmoid(%c) }",
        threads);
    // Weights that go past the library's cache.
    run_at_once(
        "graph(%x: f32[1,32,20,20], %w: f32[32,1,3,3]) -> (%y) { %y: f32[1,32,20,20] = Conv(%x, %w) {group=32, "
        "pads=[1,1,1,1]} }",
        threads);
    run_at_once("graph(%x: f32[64,96], %w: f32[96,80]) -> (%y) { %y: f32[64,80] = MatMul(%x, %w) }", threads);
  }
}

TEST(XnnpackThreads, OutliveTheirKernel) {
  const Graph graph = graph_of("graph(%x: f32[64,96], %w: f32[96,80]) -> (%y) { %y: f32[64,80] = MatMul(%x, %w) }");
  const Variant variant = variants_of(graph).at(0);
  const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant.name, 2);
  auto kernel = loading("xnnpack").load(request_of(graph, variant, artifact, 2));
  ASSERT_TRUE(kernel);
  const std::vector<float> x = numbers_of(graph, graph.inputs[0]);
  std::vector<float> y(std::size_t{64} * 80);
  auto call = (*kernel)->bind({.inputs = {x.data()}, .outputs = {y.data()}});
  ASSERT_TRUE(call);
  kernel->reset();
  EXPECT_TRUE((*call)->run());
}

}  // namespace
}  // namespace collage::test
