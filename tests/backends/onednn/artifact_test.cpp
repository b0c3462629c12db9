// What crosses processes: artifacts, refusals to load them, the thread budget, the rules.
#include <gmock/gmock.h>

#include <algorithm>
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

/// A variant of a net with its artifact, whose program is changed as if the plan file had come from somebody else.
class Foreign {
 public:
  Foreign(Net net, const std::string& variant_name) : net_(std::move(net)) {
    const auto variants = onednn().support(net_.graph, region_of(net_.graph), {});
    COLLAGE_CHECK(variants.has_value());
    const auto found = std::ranges::find(*variants, variant_name, &Variant::name);
    COLLAGE_CHECK(found != variants->end(), variant_name);
    variant_ = *found;
    artifact_ = artifact_of(net_, variant_name);
    artifact_.workspace_bytes = std::size_t{1} << 62;
  }

  using Change = std::function<void(nlohmann::json&)>;
  /// What loading says of the changed program: "" when it loads.
  [[nodiscard]] std::string code_after(const Change& change) const {
    nlohmann::json program = nlohmann::json::parse(artifact_.bytes);
    change(program);
    Artifact artifact = artifact_;
    artifact.bytes = program.dump();
    const auto kernel = onednn().load(request_of(net_.graph, variant_, artifact));
    return kernel ? "" : kernel.error().code;
  }
  /// What loading says when the first constant has lost all bytes but these.
  [[nodiscard]] std::string code_with_constant_of(std::size_t bytes) const {
    LoadRequest request = request_of(net_.graph, variant_, artifact_);
    request.constants.at(0).data = request.constants.at(0).data.slice(0, bytes);
    const auto kernel = onednn().load(request);
    return kernel ? "" : kernel.error().code;
  }
  void expect_refused(const std::vector<Change>& changes) const {
    ASSERT_EQ(code_after([](nlohmann::json&) {}), "");
    for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(code_after(changes[i]), "backend/bad-artifact") << i;
  }

 private:
  Net net_;
  Variant variant_;
  Artifact artifact_;
};

using Json = nlohmann::json;

/// The first tensor of a role.
Json& first(Json& program, const std::string& role) {
  for (Json& tensor : program["tensors"])
    if (tensor["role"] == role) return tensor;
  COLLAGE_CHECK(false, role);
  return program;
}

/// The index of a tensor that is added.
std::size_t add_tensor(Json& program, const Json& tensor) {
  program["tensors"].push_back(tensor);
  return program["tensors"].size() - 1;
}

Json literal(const Json& extents) {
  return {{"role", "literal"}, {"index", 0}, {"type", "f32"}, {"layout", "plain"}, {"extents", extents}};
}

Json temporary(std::size_t index, const Json& extents) {
  return {{"role", "temporary"}, {"index", index}, {"type", "f32"}, {"layout", "plain"}, {"extents", extents}};
}

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

TEST(OneDnnForeignArtifact, HasNoTensorsThatReachOutOfTheirMemory) {
  const Foreign foreign(small_net(), "jit.nhwc");
  EXPECT_EQ(foreign.code_with_constant_of(16), "backend/bad-artifact");
  foreign.expect_refused({
      [](Json& program) { first(program, "constant")["offset"] = 1 << 30; },
      [](Json& program) { first(program, "constant")["stored"] = {kHuge}; },
      [](Json& program) {
        first(program, "input")["stored"] = {1};
        first(program, "input")["strides"] = {1};
      },
      [](Json& program) {
        first(program, "input")["strides"] = {0, 0, 0, 0};
      },
      [](Json& program) {
        first(program, "output")["strides"] = {0, 0, 0, 0};
      },
      [](Json& program) { first(program, "input")["extents"][0] = 0; },
      [](Json& program) { first(program, "input")["type"] = "i64"; },
      [](Json& program) {
        add_tensor(program, temporary(0, {1 << 20, 1 << 20, 1 << 8}));
      },
      [](Json& program) {
        for (std::size_t i = 0; i < 4; ++i) {
          add_tensor(program, temporary(i, {1 << 24, 1 << 24}));
          program["tensors"].back()["offset"] = std::int64_t{1} << 48;
        }
      },
      [](Json& program) {
        for (std::size_t i = 0; i < 3; ++i) add_tensor(program, temporary(i, {1 << 24, 1 << 21}));
      },
      [](Json& program) {
        add_tensor(program, literal({1 << 15, 1 << 15}));
      },
      [](Json& program) {
        // Elements repeated again and again.
        Json constant = first(program, "constant");
        const std::int64_t elements = constant["extents"][0].get<std::int64_t>() * 16 * 9;
        constant["extents"] = constant["stored"] = {elements, 1 << 18};
        constant["strides"] = {1, 0};
        add_tensor(program, constant);
      },
  });
}

TEST(OneDnnForeignArtifact, HasNoWindowsThatWrapOrFollowOthers) {
  const Foreign foreign(small_net(), "jit.nhwc");
  foreign.expect_refused({
      [](Json& program) {
        program["ops"][0]["strides"] = {0, 1};
      },
      [](Json& program) {
        program["ops"][0]["strides"] = {std::int64_t{1} << 32 | 1, 1};
      },
      [](Json& program) { program["ops"][0]["strides"] = {1}; },
      [](Json& program) {
        program["ops"][0]["dilations"] = {kHuge, kHuge};
      },
      [](Json& program) {
        program["ops"][0]["begin"] = {std::int64_t{1} << 32 | 1, 1};
      },
      [](Json& program) {
        program["ops"][0]["end"] = {-kHuge, 1};
      },
      [](Json& program) {
        first(program, "output")["extents"] = {1, 16, 64};
      },
      // A convolution after it, and an output of another rank, which has blocks.
      [](Json& program) {
        first(program, "input")["extents"] = {1, 16, 2, 2, 2, 2};
        first(program, "output")["layout"] = "blocked";
        program["ops"][0]["post"] = {{{"kind", "depthwise"}, {"tensor", 1}, {"second", 2}, {"kernel", 3}}};
      },
  });
}

TEST(OneDnnForeignArtifact, HasNoOperandsThatAreNotRepeatedToTheResult) {
  const Foreign foreign(small_net(), "gemm.plain");
  const auto with_post = [](const Json& operand, const std::string& kind) {
    return [=](Json& program) {
      const std::size_t tensor = add_tensor(program, operand);
      program["ops"][0]["post"] = {{{"kind", kind}, {"algorithm", "add"}, {"tensor", tensor}}};
    };
  };
  EXPECT_NE(foreign.code_after(with_post(literal({1, 16, 1, 1}), "binary")), "backend/bad-artifact");
  EXPECT_NE(foreign.code_after(with_post(literal({1, 16, 1, 1}), "prelu")), "backend/bad-artifact");
  Json bytes = literal({1, 16, 1, 1});
  bytes["type"] = "u8";
  bytes["role"] = "input";
  Json strided = literal({1, 16, 1, 1});
  strided["role"] = "input";
  strided["strides"] = {16, 1, 1, 1};
  foreign.expect_refused({
      with_post(literal({1, 16, 1}), "binary"),
      with_post(literal({1, 16, 1, 1, 1}), "binary"),
      with_post(literal({1, 2, 1, 1}), "binary"),
      with_post(literal({1, 2}), "prelu"),
      with_post(literal({1, 2, 1, 1}), "prelu"),
      with_post(literal({1, 1, 8, 1}), "prelu"),
      with_post(bytes, "prelu"),
      with_post(strided, "prelu"),
  });
}

TEST(OneDnnForeignArtifact, HasNoFusedConvolutionOfOtherTensors) {
  Net net;
  ValueId y = net.conv(net.input({1, 8, 112, 112}), 96, 1);
  y = net.same("Clip", {y, net.scalar(0), net.scalar(6)});
  net.output(net.conv(y, 96, 3, {.stride = 2, .pad = 1, .group = 96}));
  const Foreign foreign(net, "jit_1x1.blocked");
  const auto second = [](Json& program) -> Json& {
    for (Json& post : program["ops"][0]["post"])
      if (post["kind"] == "depthwise") return post;
    COLLAGE_CHECK(false, "no depthwise convolution");
    return program;
  };
  foreign.expect_refused({
      [](Json& program) {
        first(program, "output")["extents"] = {1, 1, 1, 1};
      },
      [](Json& program) {
        first(program, "output")["extents"] = {1, 96, 56, 55};
      },
      [](Json& program) {
        first(program, "output")["extents"] = {1, 1, 1};
      },
      [](Json& program) {
        first(program, "output")["strides"] = {1, 1, 1, 1};
      },
      [&](Json& program) { second(program)["stride"] = 0; },
      [&](Json& program) { second(program)["stride"] = 1; },
      [&](Json& program) { second(program)["kernel"] = 5; },
      [&](Json& program) { second(program)["padding"] = 0; },
      [&](Json& program) {
        second(program)["tensor"] = add_tensor(program, literal({96, 1, 1, 3, 3}));
      },
      [&](Json& program) { second(program)["second"] = add_tensor(program, temporary(0, {1})); },
      [&](Json& program) { program["ops"][0]["post"].push_back(second(program)); },
      [&](Json& program) {
        const std::size_t operand = add_tensor(program, literal({1, 96, 1, 1}));
        Json& posts = program["ops"][0]["post"];
        posts.insert(posts.begin(), Json{{"kind", "binary"}, {"algorithm", "add"}, {"tensor", operand}});
      },
  });
}

TEST(OneDnnForeignArtifact, HasNoVectorsThatAreShorterThanTheLibraryTakesThemToBe) {
  Net net;
  net.output(net.same("BatchNormalization", {net.input({1, 16, 5, 4}), net.constant({16}), net.constant({16}),
                                             net.constant({16}), net.constant({16}, 0.5F, 1.F)}));
  const Foreign foreign(net, "direct.plain");
  const auto with_scale = [](const std::string& name, const Json& value) {
    return [=](Json& program) {
      Json scale = literal({16});
      scale[name] = value;
      program["ops"][0]["inputs"][1] = add_tensor(program, scale);
    };
  };
  EXPECT_EQ(foreign.code_after(with_scale("scale", 1.0)), "");
  foreign.expect_refused({
      with_scale("type", "bf16"),
      with_scale("strides", {0}),
      with_scale("extents", {1}),
      with_scale("offset", 16),
      [](Json& program) { first(program, "constant")["type"] = "bf16"; },
      [&](Json& program) {
        with_scale("role", "input")(program);
        program["tensors"].back()["strides"] = {0};
      },
  });
}

TEST(OneDnnForeignArtifact, HasNoListsThatAreShorterThanTheirTensors) {
  Net net;
  net.output(net.same("Tanh", {net.same("Relu", {net.input({1, 16, 5, 4})})}));
  const Foreign foreign(net, "direct.plain");
  const auto with_list = [](const std::string& name, const Json& value) {
    return [=](Json& program) {
      Json& made = first(program, "literal");
      made["numbers"] = {1.0};
      made[name] = value;
    };
  };
  EXPECT_EQ(foreign.code_after(with_list("scale", 1.0)), "");
  foreign.expect_refused({
      with_list("layout", "blocked"),
      with_list("strides", {kHuge}),
      with_list("extents", {2}),
      [](Json& program) { first(program, "literal")["strides"] = {1}; },
      [](Json& program) { first(program, "literal")["extents"] = {3}; },
      [](Json& program) { first(program, "literal")["offset"] = 1; },
  });
}

TEST(OneDnnForeignArtifact, HasNoResultsOfOtherExtents) {
  Net softmax;
  softmax.output(softmax.same("Softmax", {softmax.input({6, 8})}, {{"axis", std::int64_t{1}}}));
  Foreign(softmax, "direct.plain")
      .expect_refused({
          [](Json& program) {
            first(program, "input")["extents"] = {3, 8};
          },
          [](Json& program) {
            first(program, "output")["extents"] = {3, 8};
          },
      });
  Net relu;
  relu.output(relu.same("Relu", {relu.input({1, 16, 5, 4})}));
  Foreign(relu, "direct.plain")
      .expect_refused({
          [](Json& program) {
            // All of the output would be written, wherever its strides lead.
            const Json extents = first(program, "output")["extents"];
            Json constant = literal(extents);
            constant["role"] = "constant";
            constant["strides"] = std::vector<std::int64_t>(extents.size(), 0);
            program["ops"][0]["inputs"][0] = add_tensor(program, constant);
            first(program, "output")["strides"] = constant["strides"];
          },
      });
  Net concat;
  const ValueId x = concat.input({2, 3, 4, 5});
  concat.output(concat.op("Concat", {x, concat.input({2, 2, 4, 5})}, {2, 5, 4, 5}, {{"axis", std::int64_t{1}}}));
  Foreign(concat, "direct.plain")
      .expect_refused({
          [](Json& program) { program["ops"][0]["axis"] = 4; },
          [](Json& program) { program["ops"][0]["axis"] = -1; },
          [](Json& program) { program["ops"][0]["axis"] = 2; },
          [](Json& program) { program["ops"][0]["inputs"].push_back(0); },
      });
}

TEST(OneDnnForeignArtifact, HasNoPoolingOverNothing) {
  Net net;
  net.output(net.pool("MaxPool", net.input({1, 16, 8, 8}), 3, {.stride = 2, .pad = 1}));
  Foreign(net, "direct.plain")
      .expect_refused({
          [](Json& program) {
            program["ops"][0]["kernel"] = {1 << 20, 1 << 20};
          },
          [](Json& program) {
            program["ops"][0]["kernel"] = {kHuge, 3};
          },
          [](Json& program) { program["ops"][0]["kernel"] = {3}; },
      });
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
