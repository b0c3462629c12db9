// What crosses processes: artifacts, refusals to load them; the rules; buffers; many calls at once.
#include <filesystem>
#include <thread>

#include "mnn_fixture.h"

namespace collage::test {
namespace {

constexpr const char* kText =
    "graph(%x: f32[1,17,9,7], %w: f32[20,17,3,3], %wb: f32[20]) -> (%y) { %c: f32[1,20,9,7] = Conv(%x, %w, %wb) "
    "{pads=[1,1,1,1]} %y: f32[1,20,9,7] = Relu(%c) }";

std::string load_error(const Graph& graph, const Artifact& artifact, int threads = 1) {
  const auto kernel = loading("mnn").load(request_of(graph, artifact, threads));
  return kernel ? "" : kernel.error().code;
}

TEST(MnnArtifact, IsTheSameEveryTimeAndHoldsNoWeights) {
  const Graph graph = graph_of(kText);
  const Artifact artifact = artifact_of(compiling("mnn"), graph, "plain.winograd=1");
  EXPECT_EQ(artifact_of(loading("mnn"), graph, "plain.winograd=1"), artifact);
  EXPECT_EQ(artifact.constants.size(), 2U);
  EXPECT_LT(artifact.bytes.size(), 2000U);
  EXPECT_EQ(load_error(graph, artifact), "");
}

TEST(MnnArtifact, IsRefusedWhenForeignOrForOtherThreads) {
  const Graph graph = graph_of(kText);
  Artifact artifact = artifact_of(compiling("mnn"), graph, "plain.direct");
  EXPECT_EQ(load_error(graph, artifact, 2), "backend/other-threads");
  artifact.compatibility = "host/1";
  EXPECT_EQ(load_error(graph, artifact), "backend/incompatible-artifact");
}

TEST(MnnArtifact, IsRefusedWhenDamaged) {
  const Graph graph = graph_of(kText);
  const Artifact whole = artifact_of(compiling("mnn"), graph, "plain.direct");
  for (std::size_t length = 0; length < whole.bytes.size(); length += 11) {
    Artifact artifact = whole;
    artifact.bytes.resize(length);
    EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << length;
  }
}

TEST(MnnArtifact, NeedsItsConstants) {
  const Graph graph = graph_of(kText);
  const Artifact artifact = artifact_of(compiling("mnn"), graph, "plain.direct");
  LoadRequest request = request_of(graph, artifact);
  request.constants.pop_back();
  EXPECT_EQ(loading("mnn").load(request).error().code, "backend/bad-artifact");
  request = request_of(graph, artifact);
  std::swap(request.constants[0], request.constants[1]);
  EXPECT_EQ(loading("mnn").load(request).error().code, "backend/bad-artifact");
}

TEST(MnnBackend, TellsVersionAndBuild) {
  const BackendInfo& info = compiling("mnn").info();
  EXPECT_EQ(info.kind, "mnn");
  EXPECT_EQ(info.unusable, "");
  EXPECT_EQ(info.version, "3.3.0");
  EXPECT_THAT(info.build, testing::HasSubstr(info.version));
  EXPECT_GE(info.build.size(), info.version.size() + 40) << "no build id in " << info.build;
  EXPECT_FALSE(info.is_engine);
}

TEST(MnnBackend, RefusesVariantsItDoesNotOffer) {
  const Graph graph = graph_of(kText);
  CompileRequest request{
      .graph = &graph,
      .region = region_of(graph),
      .variant = {.name = "plain.winograd=3", .input_formats = {plain()}, .output_formats = {plain()}},
      .model_bytes = {}};
  EXPECT_EQ(compiling("mnn").compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
  request.variant = {.name = "plain.direct", .input_formats = {channels_last()}, .output_formats = {plain()}};
  EXPECT_EQ(compiling("mnn").compile({&request, 1}, {})[0].error().reason, RefusalReason::kFormat);
  request.model_bytes = "a model";
  EXPECT_EQ(compiling("mnn").compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
}

/// The library is handed addresses that it did not allocate, and calls do not share a session.
TEST(MnnBackend, GivesTheSameNumbersToCallsAtOnceInAnyBuffers) {
  const Graph graph = graph_of(kText);
  const Artifact artifact = artifact_of(compiling("mnn"), graph, "plain.winograd=1");
  const auto kernel = loading("mnn").load(request_of(graph, artifact));
  ASSERT_TRUE(kernel);
  const std::vector<float> numbers = numbers_of(graph, graph.inputs[0]);
  const std::size_t count = expected_of(graph).size();
  constexpr float kGuard = 77;
  std::vector<std::vector<float>> results(4, std::vector<float>(count + 8, kGuard));
  std::vector<std::thread> threads;
  for (std::size_t shift = 0; shift < results.size(); ++shift)
    threads.emplace_back([&, shift] {
      std::vector<float> input(shift, kGuard);  // any multiple of an element's size is aligned enough
      input.insert(input.end(), numbers.begin(), numbers.end());
      auto call = (*kernel)->bind({.inputs = {input.data() + shift}, .outputs = {results[shift].data() + shift}});
      for (int i = 0; i < 20; ++i) EXPECT_TRUE((*call)->run());
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t shift = 0; shift < results.size(); ++shift) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(results[shift][i + shift], results[0][i]) << shift;
    for (std::size_t i = 0; i < shift; ++i) EXPECT_EQ(results[shift][i], kGuard);
    for (std::size_t i = count + shift; i < count + 8; ++i) EXPECT_EQ(results[shift][i], kGuard);
  }
}

std::size_t count_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(MnnBackend, StartsNoThreadWhereOneIsAllowed) {
  const Graph graph = graph_of(kText);
  const std::size_t before = count_threads();
  const Artifact artifact = artifact_of(compiling("mnn"), graph, "plain.winograd=1");
  const auto kernel = loading("mnn").load(request_of(graph, artifact));
  ASSERT_TRUE(kernel);
  const std::vector<float> input = numbers_of(graph, graph.inputs[0]);
  std::vector<float> output(expected_of(graph).size());
  auto call = (*kernel)->bind({.inputs = {input.data()}, .outputs = {output.data()}});
  ASSERT_TRUE(call);
  EXPECT_TRUE((*call)->run());
  EXPECT_EQ(count_threads(), before);
}

TEST(MnnBackend, PrintsNothing) {
  const Graph graph = graph_of(kText);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  artifact_of(compiling("mnn"), graph, "plain.direct");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(MnnBackend, ListsPatternsThatParse) { EXPECT_TRUE(check_patterns(compiling("mnn").rules())); }

}  // namespace
}  // namespace collage::test
