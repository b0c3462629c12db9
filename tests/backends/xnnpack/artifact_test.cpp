// What crosses processes: artifacts, refusals to load them; the rules.
#include "xnnpack_fixture.h"

namespace collage::test {
namespace {

Graph small_graph() {
  return graph_of(
      "graph(%x: f32[1,8,9,9], %r: f32[1,24,9,9], %w: f32[24,8,3,3], %wb: f32[24]) -> (%y) { %c: f32[1,24,9,9] = "
      "Conv(%x, %w, %wb) {pads=[1,1,1,1]} %y: f32[1,24,9,9] = Add(%c, %r) }");
}

std::string load_error(const Graph& graph, const Artifact& artifact) {
  const Variant variant = variants_of(graph).at(0);
  const auto kernel = loading("xnnpack").load(request_of(graph, variant, artifact));
  return kernel ? "" : kernel.error().code;
}

TEST(XnnpackArtifact, IsTheSameEveryTime) {
  const Graph graph = small_graph();
  const Artifact artifact = artifact_of(compiling("xnnpack"), graph, "channels_last");
  EXPECT_EQ(artifact_of(loading("xnnpack"), graph, "channels_last", 2), artifact);
  EXPECT_EQ(artifact.compatibility, "xnnpack/1");
  EXPECT_EQ(artifact.constants.size(), 2U);
  EXPECT_EQ(load_error(graph, artifact), "");
}

TEST(XnnpackArtifact, IsRefusedWhenForeign) {
  const Graph graph = small_graph();
  Artifact artifact = artifact_of(compiling("xnnpack"), graph, "channels_last");
  artifact.compatibility = "host/1";
  EXPECT_EQ(load_error(graph, artifact), "backend/incompatible-artifact");
}

TEST(XnnpackArtifact, IsRefusedWhenDamaged) {
  const Graph graph = small_graph();
  const Artifact whole = artifact_of(compiling("xnnpack"), graph, "channels_last");
  for (std::size_t length = 0; length < whole.bytes.size(); length += 7) {
    Artifact artifact = whole;
    artifact.bytes.resize(length);
    EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << length;
  }
}

TEST(XnnpackArtifact, IsRefusedWhenItReachesOutsideItsPorts) {
  const Graph graph = small_graph();
  const Artifact whole = artifact_of(compiling("xnnpack"), graph, "channels_last");
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"extents\":[1,9,9,8]", "\"extents\":[1,9,9,9]"},
      {"\"extents\":[1,9,9,8]", "\"extents\":[1,9,9,-8]"},
      {"\"extents\":[1,9,9,8]", "\"extents\":[1,1073741824,1073741824,1073741824]"},
      {"\"index\":1", "\"index\":7"},
      {"\"inputs\":[0", "\"inputs\":[99"},
      {"\"output\":", "\"output\":-"},
      {"\"steps\":[72,3,1,9]", "\"steps\":[72,3,1,10]"},
      {"\"steps\":[72,3,1,9]", "\"steps\":[72,3,1,-9]"},
      {"\"convolution\"", "\"revolution\""}};
  for (const auto& [from, to] : changes) {
    Artifact artifact = whole;
    const std::size_t at = artifact.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << artifact.bytes;
    artifact.bytes.replace(at, from.size(), to);
    EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << to;
  }
}

/// What else the library believes: who writes where, and that joined and padded extents add up.
TEST(XnnpackArtifact, IsRefusedWhenItsOperationsDoNotFit) {
  const Graph graph =
      graph_of("graph(%x: f32[2,3,4], %r: f32[2,3,4]) -> (%y) { %y: f32[2,6,4] = Concat(%x, %r) {axis=1} }");
  Artifact artifact = artifact_of(compiling("xnnpack"), graph, variants_of(graph).at(0).name);
  const std::string tensors =
      R"("tensors":[{"extents":[2,3,4],"role":"input"},{"extents":[2,3,4],"index":1,"role":"input"},)"
      R"({"extents":[2,6,4],"role":"output"}]})";
  const auto code_of = [&](const std::string& ops) {
    artifact.bytes = R"({"schema":"xnnpack-program/1","ops":[)" + ops + "]," + tensors;
    return load_error(graph, artifact);
  };
  EXPECT_EQ(code_of(R"({"kind":"concat","axes":[1],"inputs":[0,1],"output":2})"), "");
  for (const char* ops : {R"({"kind":"concat","axes":[1],"inputs":[0],"output":2})",
                          R"({"kind":"concat","axes":[2],"inputs":[0,1],"output":2})",
                          R"({"kind":"concat","axes":[1],"inputs":[0,2],"output":2})",
                          R"({"kind":"concat","axes":[1],"inputs":[0,1],"output":1})",
                          R"({"kind":"concat","axes":[1],"inputs":[0,1],"output":2},)"
                          R"({"kind":"concat","axes":[1],"inputs":[0,1],"output":2})",
                          R"({"kind":"pad","begin":[0,0,0],"end":[0,2,0],"inputs":[0],"output":2})",
                          R"({"kind":"reduction","algorithm":"sum","axes":[1,1,1],"inputs":[0],"output":2})",
                          R"({"kind":"binary","algorithm":"add","inputs":[0],"output":2})"})
    EXPECT_EQ(code_of(ops), "backend/bad-artifact") << ops;
}

/// The library does not look at all of its parameters.
TEST(XnnpackArtifact, IsRefusedWhenItsParametersDoNotFit) {
  const Graph graph = small_graph();
  const Artifact whole = artifact_of(compiling("xnnpack"), graph, "channels_last");
  const std::vector<std::pair<std::string, std::string>> changes = {{"\"kernel\":[3,3]", "\"kernel\":[3,4]"},
                                                                    {"\"kernel\":[3,3]", "\"kernel\":[3]"},
                                                                    {"\"begin\":[1,1]", "\"begin\":[2,1]"},
                                                                    {"\"begin\":[1,1]", "\"begin\":[-1,1]"},
                                                                    {"\"strides\":[1,1]", "\"strides\":[0,1]"}};
  for (const auto& [from, to] : changes) {
    Artifact artifact = whole;
    const std::size_t at = artifact.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << artifact.bytes;
    artifact.bytes.replace(at, from.size(), to);
    EXPECT_EQ(load_error(graph, artifact), "backend/bad-artifact") << to;
  }
}

TEST(XnnpackArtifact, IsRefusedWhenItsAlgorithmIsUnknown) {
  const Graph graph = small_graph();
  Artifact artifact = artifact_of(compiling("xnnpack"), graph, "channels_last");
  const std::string known = "\"algorithm\":\"add\"";
  artifact.bytes.replace(artifact.bytes.find(known), known.size(), "\"algorithm\":\"odd\"");
  EXPECT_EQ(load_error(graph, artifact), "backend/library-failed");
}

TEST(XnnpackArtifact, NeedsItsConstants) {
  const Graph graph = small_graph();
  const Artifact artifact = artifact_of(compiling("xnnpack"), graph, "channels_last");
  LoadRequest request = request_of(graph, variants_of(graph).at(0), artifact);
  request.constants.pop_back();
  EXPECT_EQ(loading("xnnpack").load(request).error().code, "backend/bad-artifact");
}

TEST(XnnpackArtifact, IsPreparedOnce) {
  const Graph graph = small_graph();
  const Artifact artifact = artifact_of(compiling("xnnpack"), graph, "channels_last");
  const LoadRequest request = request_of(graph, variants_of(graph).at(0), artifact);
  const std::vector<MaybePrepared> made = prepare_constants(loading("xnnpack"), {&request, 1});
  ASSERT_TRUE(made[0] && *made[0]);
  const PreparedArtifact& prepared = **made[0];
  EXPECT_EQ(prepared.constants.size(), 2U);
  LoadRequest second = prepared_request(request, prepared);
  EXPECT_TRUE(loading("xnnpack").load(second));
  const std::vector<MaybePrepared> again = prepare_constants(loading("xnnpack"), {&second, 1});
  ASSERT_TRUE(again[0]);
  EXPECT_FALSE(*again[0]);
  std::swap(second.constants[0], second.constants[1]);
  EXPECT_EQ(loading("xnnpack").load(second).error().code, "backend/bad-artifact");
}

TEST(XnnpackBackend, RefusesVariantsItDoesNotOffer) {
  const Graph graph = small_graph();
  CompileRequest request{.graph = &graph,
                         .region = region_of(graph),
                         .variant = {.name = "plain", .input_formats = {plain(), plain()}, .output_formats = {plain()}},
                         .model_bytes = {}};
  EXPECT_EQ(compiling("xnnpack").compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
  request.variant.name = "channels_last";
  EXPECT_EQ(compiling("xnnpack").compile({&request, 1}, {})[0].error().reason, RefusalReason::kFormat);
  request.model_bytes = "a model";
  EXPECT_EQ(compiling("xnnpack").compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
}

TEST(XnnpackBackend, ListsPatternsThatParse) {
  const PartitionRules rules = compiling("xnnpack").rules();
  EXPECT_EQ(rules.growth, Growth::kNone);
  EXPECT_TRUE(check_patterns(rules));
}

}  // namespace
}  // namespace collage::test
