// What crosses processes: artifacts, refusals to load them; the rules; many calls at once.
#include <thread>

#include "blas_fixture.h"

namespace collage::test {
namespace {

Graph small_graph() {
  return graph_of(
      "graph(%a: f32[2,7,16], %w: f32[16,5], %wb: f32[5]) -> (%y) { %m: f32[2,7,5] = MatMul(%a, %w) %s: f32[2,7,5] = "
      "Add(%m, %wb) %y: f32[2,7,5] = Relu(%s) }");
}

std::string load_error(const Graph& graph, const Artifact& artifact) {
  const auto kernel = loading("blas").load(request_of(graph, artifact));
  return kernel ? "" : kernel.error().code;
}

TEST(BlasArtifact, IsTheSameEveryTimeAndHoldsNothingOfALibrary) {
  const Graph graph = small_graph();
  const Artifact artifact = artifact_of(compiling("blas"), graph, "gemm.plain");
  EXPECT_EQ(artifact_of(loading("blas"), graph, "gemm.plain", 2), artifact);
  EXPECT_EQ(artifact_of(compiling("blas:lib=blis"), graph, "gemm.plain").bytes, artifact.bytes);
  EXPECT_EQ(artifact.constants.size(), 2U);
  EXPECT_EQ(load_error(graph, artifact), "");
}

TEST(BlasArtifact, IsRefusedWhenForeign) {
  const Graph graph = small_graph();
  Artifact artifact = artifact_of(compiling("blas:lib=blis"), graph, "gemm.plain");
  EXPECT_EQ(load_error(graph, artifact), "backend/incompatible-artifact");
  artifact.compatibility = "host/1";
  EXPECT_EQ(load_error(graph, artifact), "backend/incompatible-artifact");
}

TEST(BlasArtifact, IsRefusedWhenDamaged) {
  const Graph graph = small_graph();
  const Artifact whole = artifact_of(compiling("blas"), graph, "gemm.plain");
  for (std::size_t length = 0; length < whole.bytes.size(); length += 7) {
    Artifact artifact = whole;
    artifact.bytes.resize(length);
    EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << length;
  }
}

TEST(BlasArtifact, IsRefusedWhenItReachesOutsideItsPorts) {
  const Graph graph = small_graph();
  const Artifact whole = artifact_of(compiling("blas"), graph, "gemm.plain");
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"k\":16", "\"k\":17"},           {"\"k\":16", "\"k\":-1"},
      {"\"m\":14", "\"m\":13"},           {"\"m\":14", "\"m\":4611686018427387904"},
      {"\"row\":16", "\"row\":-16"},      {"\"row\":16", "\"row\":4611686018427387904"},
      {"\"row\":5", "\"row\":6"},         {"\"source\":1", "\"source\":9"},
      {"\"batch\":[]", "\"batch\":[3]"},  {"\"gemm\"", "\"gemv\""},
      {"\"gemm\"", "\"trsm\""},           {"\"accumulates\":false", "\"accumulates\":3"},
      {"\"scale\":1.0", "\"scale\":null"}};
  for (const auto& [from, to] : changes) {
    Artifact artifact = whole;
    const std::size_t at = artifact.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << artifact.bytes;
    artifact.bytes.replace(at, from.size(), to);
    EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << to;
  }
}

TEST(BlasArtifact, IsRefusedAtPortsThatAreNoFloats) {
  const Graph graph = small_graph();
  const Artifact artifact = artifact_of(compiling("blas"), graph, "gemm.plain");
  const LoadRequest whole = request_of(graph, artifact);
  for (const bool is_input : {true, false}) {
    LoadRequest request = whole;
    Port& port = is_input ? request.inputs[0] : request.outputs[0];
    port.type.element = ElementType::kUint8;
    EXPECT_EQ(loading("blas").load(request).error().code, "backend/bad-artifact");
    port.type = ValueType::tensor(ElementType::kFloat32, {1});
    port.type.shape.reset();
    EXPECT_EQ(loading("blas").load(request).error().code, "backend/bad-artifact");
    request = whole;
    (is_input ? request.inputs[0] : request.outputs[0]).place.format = {"unheard_of"};
    EXPECT_EQ(loading("blas").load(request).error().code, "backend/bad-artifact");
  }
}

TEST(BlasArtifact, AddsToAProductOnlyWhatLiesAsItDoes) {
  const Graph graph = graph_of(
      "graph(%a: f32[7,16], %w: f32[16,5], %c: f32[7,5]) -> (%y) { %m: f32[7,5] = MatMul(%a, %w) %y: f32[7,5] = "
      "Add(%m, %c) }");
  const Artifact whole = artifact_of(compiling("blas"), graph, "gemm.plain");
  ASSERT_NE(whole.bytes.find("\"accumulates\":true"), std::string::npos) << whole.bytes;
  ASSERT_EQ(load_error(graph, whole), "");
  const std::size_t at = whole.bytes.find("\"addends\":[{");
  ASSERT_NE(at, std::string::npos) << whole.bytes;
  Artifact artifact = whole;
  const std::size_t row = artifact.bytes.find("\"row\":5", at);
  ASSERT_NE(row, std::string::npos) << whole.bytes;
  artifact.bytes.replace(row, 7, "\"row\":0");
  EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << "one row, added to each";
}

TEST(BlasArtifact, NeedsItsConstants) {
  const Graph graph = small_graph();
  const Artifact artifact = artifact_of(compiling("blas"), graph, "gemm.plain");
  LoadRequest request = request_of(graph, artifact);
  request.constants.pop_back();
  EXPECT_EQ(loading("blas").load(request).error().code, "backend/bad-artifact");
  request.constants.clear();
  EXPECT_EQ(loading("blas").load(request).error().code, "backend/bad-artifact");
}

TEST(BlasBackend, RefusesVariantsItDoesNotOffer) {
  const Graph graph = small_graph();
  CompileRequest request{.graph = &graph,
                         .region = region_of(graph),
                         .variant = {.name = "gemv.plain", .input_formats = {plain()}, .output_formats = {plain()}},
                         .model_bytes = {}};
  EXPECT_EQ(compiling("blas").compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
  request.variant = {.name = "gemm.plain", .input_formats = {channels_last()}, .output_formats = {plain()}};
  EXPECT_EQ(compiling("blas").compile({&request, 1}, {})[0].error().reason, RefusalReason::kFormat);
  request.model_bytes = "a model";
  EXPECT_EQ(compiling("blas").compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
}

TEST(BlasBackend, GivesTheSameNumbersToCallsAtOnce) {
  const Graph graph =
      graph_of("graph(%a: f32[130,140], %w: f32[140,150]) -> (%y) { %y: f32[130,150] = MatMul(%a, %w) }");
  for (const std::string& instance : usable_instances()) {
    const Variant variant = compiling(instance).support(graph, region_of(graph), {})->front();
    const Artifact artifact = artifact_of(compiling(instance), graph, variant.name);
    const auto kernel = loading(instance).load(request_of(graph, artifact));
    ASSERT_TRUE(kernel);
    const std::vector<float> a = numbers_of(graph, graph.inputs[0]);
    const std::vector<float> alone = run_variant(instance, graph, variant);
    std::vector<std::vector<float>> results(3, std::vector<float>(alone.size()));
    std::vector<std::thread> threads;
    for (std::vector<float>& result : results)
      threads.emplace_back([&] {
        auto call = (*kernel)->bind({.inputs = {a.data()}, .outputs = {result.data()}});
        for (int i = 0; i < 20; ++i) EXPECT_TRUE((*call)->run());
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<float>& result : results) EXPECT_EQ(result, alone) << instance;
  }
}

TEST(BlasBackend, ListsPatternsThatParse) {
  const PartitionRules rules = compiling("blas").rules();
  EXPECT_EQ(rules.growth, Growth::kNone);
  EXPECT_TRUE(check_patterns(rules));
}

}  // namespace
}  // namespace collage::test
