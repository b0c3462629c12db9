// What crosses processes: artifacts, refusals to load them, the thread budget, the rules.
#include <gmock/gmock.h>

#include <functional>

#include "base/json_numbers.h"
#include "harness.h"
#include "tests/support/paths.h"
#include "tests/support/prepare_one.h"

namespace collage::test {
namespace {

Net small_net() {
  Net net;
  net.output(net.same("Relu", {net.conv(net.input({1, 16, 8, 8}), 16, 3, {.pad = 1})}));
  return net;
}

Artifact artifact_of(const Net& net, const std::string& variant_name, const CompileOptions& options = {}) {
  const Region region = region_of(net.graph);
  const auto variants = onednn().support(net.graph, region, options);
  COLLAGE_CHECK(variants.has_value());
  for (const Variant& variant : *variants) {
    if (variant.name != variant_name) continue;
    const CompileRequest request{.graph = &net.graph, .region = region, .variant = variant, .model_bytes = {}};
    auto artifact = onednn().compile(std::span(&request, 1), options);
    COLLAGE_CHECK(artifact[0].has_value(), artifact[0] ? "" : artifact[0].error().detail);
    return *artifact[0];
  }
  COLLAGE_CHECK(false, variant_name);
  return {};
}

std::string load_error(const Net& net, const Artifact& artifact, int threads = 1, bool with_constants = true) {
  // Blocks of 16 channels have as many bytes as rows of them.
  LoadRequest request = request_of(net.graph, plain_variant(region_of(net.graph)), artifact, threads);
  if (!with_constants) request.constants.clear();
  const auto kernel = onednn().load(request);
  return kernel ? "" : kernel.error().code;
}

TEST(OneDnnArtifact, IsTheSameEveryTime) {
  const Net net = small_net();
  EXPECT_EQ(artifact_of(net, "jit.blocked"), artifact_of(net, "jit.blocked"));
  EXPECT_NE(artifact_of(net, "jit.blocked").bytes, artifact_of(net, "jit.nhwc").bytes);
}

TEST(OneDnnArtifact, NamesTheImplementation) {
  EXPECT_THAT(artifact_of(small_net(), "gemm.plain").bytes, testing::HasSubstr("gemm:jit"));
}

TEST(OneDnnArtifact, FusesNothingIntoSlowCode) {
  Net net;
  const ValueId factors =
      add_constant(net.graph, "", make_tensor(ElementType::kFloat32, {4}, std::vector{1.F, 1.F, 2.F, 2.F}));
  const ValueId y = net.op("Resize", {net.input({1, 32, 5, 6}), ValueId{}, factors}, {1, 32, 10, 12});
  net.output(net.same("Add", {y, net.input({1, 32, 10, 12})}));
  for (const char* variant : {"direct.nhwc", "direct.blocked", "direct.plain"})
    EXPECT_THAT(artifact_of(net, variant).bytes, testing::Not(testing::HasSubstr("simple"))) << variant;
  EXPECT_THAT(passed(run_every_variant(net)), testing::IsSupersetOf({"direct.nhwc", "direct.blocked", "direct.plain"}));
}

TEST(OneDnnArtifact, IsRefusedByAnotherBuild) {
  const Net net = small_net();
  Artifact artifact = artifact_of(net, "jit.nhwc");
  artifact.compatibility += "x";
  EXPECT_EQ(load_error(net, artifact), "backend/incompatible-artifact");
}

TEST(OneDnnArtifact, IsRefusedWhenDamaged) {
  const Net net = small_net();
  const Artifact whole = artifact_of(net, "jit.nhwc");
  for (std::size_t length = 0; length < whole.bytes.size(); length += 37) {
    Artifact artifact = whole;
    artifact.bytes.resize(length);
    EXPECT_EQ(load_error(net, artifact), "backend/bad-artifact") << length;
  }
  Artifact artifact = whole;
  artifact.bytes.replace(artifact.bytes.find("\"inputs\":[0"), 11, "\"inputs\":[9");
  EXPECT_EQ(load_error(net, artifact), "backend/bad-artifact");
}

/// Artifacts come with plan files of others; the library believes what it is told about memory.
TEST(OneDnnArtifact, IsRefusedWhenItDoesNotFitItselfOrItsPorts) {
  const Net net = small_net();
  const Artifact whole = artifact_of(net, "jit.nhwc");
  const auto code_after = [&](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json program = nlohmann::json::parse(whole.bytes);
    change(program);
    Artifact artifact = whole;
    artifact.bytes = program.dump();
    return load_error(net, artifact);
  };
  using Json = nlohmann::json;
  ASSERT_EQ(code_after([](Json&) {}), "");
  const auto port = [](Json& program) -> Json& {
    for (Json& tensor : program["tensors"])
      if (tensor["role"] == "input") return tensor;
    return program["tensors"][0];
  };
  const std::vector<std::function<void(Json&)>> changes = {
      [&](Json& program) { port(program)["extents"][2] = 9; },
      [&](Json& program) { port(program)["extents"][0] = std::int64_t{1} << 62; },
      [&](Json& program) { port(program)["extents"][0] = -1; },
      [&](Json& program) { port(program)["offset"] = 64; },
      [&](Json& program) { port(program)["offset"] = -64; },
      [&](Json& program) { port(program)["index"] = 7; },
      [&](Json& program) {
        port(program)["strides"] = {1, std::int64_t{1} << 40, 1, 1};
      },
      [&](Json& program) {
        port(program)["strides"] = {1, 1};
      },
      [&](Json& program) {
        Json& tensor = port(program);
        tensor["layout"] = "blocked";
        tensor["extents"] = {1, 16, 2, 2, 2, 2};
      },
      [&](Json& program) {
        port(program)["positions"] = {0.5, 0.25};
      },
      [](Json& program) { program["ops"][0]["inputs"] = {0}; },
      [](Json& program) {
        program["ops"][0]["post"] = {{{"kind", "binary"}, {"algorithm", "add"}}};
      },
      [](Json& program) {
        program["ops"][0]["post"] = {{{"kind", "prelu"}, {"tensor", -1}}};
      },
      [](Json& program) {
        program["tensors"].push_back(
            {{"role", "temporary"}, {"index", 4'000'000'000U}, {"type", "f32"}, {"layout", "plain"}, {"extents", {1}}});
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(code_after(changes[i]), "backend/bad-artifact") << i;
}

TEST(OneDnnArtifact, NeedsItsConstantsThreadsAndScratch) {
  const Net net = small_net();
  const Artifact artifact = artifact_of(net, "gemm.plain");
  EXPECT_EQ(load_error(net, artifact), "");
  EXPECT_EQ(load_error(net, artifact, 1, false), "backend/bad-artifact");
  EXPECT_EQ(load_error(net, artifact, 2), "backend/other-threads");
  Artifact starved = artifact;
  ASSERT_GT(starved.workspace_bytes, 0U);
  starved.workspace_bytes = 0;
  EXPECT_EQ(load_error(net, starved), "backend/bad-artifact");
}

TEST(OneDnnArtifact, IsPreparedOnceAndWantsThoseConstants) {
  const Net net = small_net();
  const Artifact artifact = artifact_of(net, "jit.blocked");
  const LoadRequest original = request_of(net.graph, plain_variant(region_of(net.graph)), artifact);
  const auto prepared = test::prepare_one(onednn(), original);
  ASSERT_TRUE(prepared && *prepared);
  LoadRequest load = prepared_request(original, **prepared);
  EXPECT_TRUE(onednn().load(load));
  const auto again = test::prepare_one(onednn(), load);
  EXPECT_TRUE(again && !*again);
  load.constants.back().data = load.constants.back().data.slice(0, load.constants.back().data.size() / 4);
  EXPECT_EQ(onednn().load(load).error().code, "backend/bad-artifact");
  load.constants.pop_back();
  EXPECT_EQ(onednn().load(load).error().code, "backend/bad-artifact");
}

TEST(OneDnnArtifact, RunsOnTwoThreads) {
  EXPECT_FALSE(passed(run_every_variant(small_net(), Accuracy::kStandard, 2)).empty());
}

TEST(OneDnnBackend, RefusesAVariantWithOtherFormats) {
  const Net net = small_net();
  const CompileRequest request{.graph = &net.graph,
                               .region = region_of(net.graph),
                               .variant = {.name = "jit.nhwc", .input_formats = {plain()}, .output_formats = {plain()}},
                               .model_bytes = {}};
  const auto artifact = onednn().compile(std::span(&request, 1), {});
  ASSERT_FALSE(artifact[0]);
  EXPECT_EQ(artifact[0].error().reason, RefusalReason::kFormat);
}

TEST(OneDnnBackend, CountsThePaddingOfBlocks) {
  const Format blocked{"onednn:nChw16c"};
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 24, 3, 5});
  EXPECT_EQ(format_bytes(onednn(), type, plain()), 24U * 15 * 4);
  const auto bytes = format_bytes(onednn(), type, blocked);
  EXPECT_TRUE(!bytes || *bytes == 32U * 15 * 4);
  EXPECT_FALSE(format_bytes(onednn(), type, {"other:nChw16c"}));
  EXPECT_FALSE(format_bytes(onednn(), ValueType::tensor(ElementType::kFloat32, {4, 4}), blocked));
}

TEST(OneDnnBackend, SaysWhatItIs) {
  const BackendInfo& info = onednn().info();
  EXPECT_EQ(info.kind, "onednn");
  EXPECT_FALSE(info.is_engine);
  EXPECT_THAT(info.version, testing::StartsWith("2."));
  EXPECT_THAT(info.build, testing::StartsWith(info.version));
  EXPECT_EQ(info.unusable, "");
}

TEST(OneDnnBackend, TakesNoOptions) {
  Registry registry({test::build_path("/lib/collage")});
  EXPECT_FALSE(registry.get("onednn:fast=yes"));
}

TEST(OneDnnBackend, ListsItsPatterns) {
  const PartitionRules rules = onednn().rules();
  EXPECT_EQ(rules.growth, Growth::kNone);
  EXPECT_TRUE(check_patterns(rules));
  EXPECT_GE(rules.patterns.size(), 5U);
}

}  // namespace
}  // namespace collage::test
