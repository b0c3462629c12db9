// Variants whose products are of split floats: offered in accuracy class fast, within the bound of class standard.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "base/json_numbers.h"
#include "harness.h"
#include "region/narrow_variant.h"

namespace collage::test {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

/// On processors that multiply bfloat16, with tiles or without.
class OneDnnSplit : public ::testing::Test {
 protected:
  void SetUp() override {
    if (__builtin_cpu_supports("avx512bf16") == 0) GTEST_SKIP() << "the processor does not multiply bfloat16";
    setenv("COLLAGE_NARROW_ELEMENT", "bf16", 1);
  }
  void TearDown() override { unsetenv("COLLAGE_NARROW_ELEMENT"); }

  static std::set<std::string> passed_split(const Net& net, int threads = 1) {
    return passed(run_split_variants(net, threads));
  }
};

TEST_F(OneDnnSplit, ConvolvesWithinTheBoundOfFloats) {
  for (const std::int64_t channels : {16, 20, 64}) {
    Net net;
    const ValueId y = net.conv(net.input({2, channels, 9, 10}), 48, 3, {.stride = 2, .pad = 1});
    net.output(net.same("Relu", {y}));
    EXPECT_THAT(passed_split(net), UnorderedElementsAre("brgconv.nhwc+bf16x2")) << channels;
  }
}

TEST_F(OneDnnSplit, ConvolvesDilatedAndInThreeAxes) {
  Net dilated;
  dilated.output(dilated.conv(dilated.input({1, 32, 9, 9}), 32, 3, {.pad = 2, .dilation = 2}));
  EXPECT_THAT(passed_split(dilated), UnorderedElementsAre("brgconv.nhwc+bf16x2"));
  Net deep;
  deep.output(deep.conv(deep.input({1, 16, 5, 6, 7}), 32, 3, {.pad = 1}));
  EXPECT_THAT(passed_split(deep), UnorderedElementsAre("brgconv.nhwc+bf16x2"));
}

TEST_F(OneDnnSplit, MultipliesPixelsByPixels) {
  Net net;
  net.output(net.same("Sigmoid", {net.conv(net.input({2, 64, 5, 6}), 40, 1)}));
  EXPECT_THAT(passed_split(net), UnorderedElementsAre("brgconv_1x1.nhwc+bf16x2"));
}

TEST_F(OneDnnSplit, AddsAResidualApartAndInPlace) {
  Net net;
  const ValueId y = net.conv(net.input({1, 32, 7, 7}), 32, 3, {.pad = 1});
  net.output(net.same("Relu", {net.same("Add", {y, net.input({1, 32, 7, 7})})}));
  EXPECT_THAT(passed_split(net), UnorderedElementsAre("brgconv.nhwc+bf16x2", "brgconv.nhwc+sum+bf16x2"));
}

TEST_F(OneDnnSplit, MultipliesMatricesByConstants) {
  for (const int threads : {1, 2}) {
    Net net;
    ValueId y = net.op("MatMul", {net.input({2, 70, 24}), net.constant({24, 48})}, {2, 70, 48});
    y = net.same("Gelu", {net.same("Add", {y, net.constant({48})})});
    net.output(net.same("Add", {net.input({2, 70, 48}), y}));
    EXPECT_THAT(passed_split(net, threads), IsSupersetOf({"brgemm.plain+bf16x2", "ip_brgemm.plain+bf16x2"}));
  }
}

TEST_F(OneDnnSplit, TakesGemmWithItsFactors) {
  Net net;
  const ValueId y = net.op("Gemm", {net.input({6, 32}), net.constant({20, 32}), net.constant({20})}, {6, 20},
                           {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.F}});
  net.output(net.same("Relu", {y}));
  EXPECT_THAT(passed_split(net), IsSupersetOf({"brgemm.plain+bf16x2", "ip_brgemm.plain+bf16x2"}));
}

TEST_F(OneDnnSplit, LeavesWhatItCannotSplit) {
  Net groups;
  groups.output(groups.conv(groups.input({1, 32, 7, 7}), 32, 3, {.pad = 1, .group = 32}));
  EXPECT_THAT(run_split_variants(groups), ::testing::IsEmpty());
  Net shallow;
  shallow.output(shallow.conv(shallow.input({1, 32, 7, 7}), 32, 1));
  EXPECT_THAT(run_split_variants(shallow), ::testing::IsEmpty());
  Net computed;
  computed.output(computed.op("MatMul", {computed.input({3, 8, 16}), computed.input({3, 16, 8})}, {3, 8, 8}));
  EXPECT_THAT(run_split_variants(computed), ::testing::IsEmpty());
}

TEST_F(OneDnnSplit, OffersNothingInOtherClasses) {
  Net net;
  net.output(net.conv(net.input({1, 32, 7, 7}), 32, 3, {.pad = 1}));
  for (const Accuracy accuracy : {Accuracy::kStandard, Accuracy::kStrict}) {
    const auto variants = onednn().support(net.graph, region_of(net.graph), {.accuracy = accuracy});
    ASSERT_TRUE(variants);
    EXPECT_TRUE(std::ranges::none_of(*variants, has_few_bits));
  }
}

/// Infinity times a low part would be infinity of either sign.
TEST_F(OneDnnSplit, KeepsInfinityAndNaNWhereTheyAre) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Net net;
  net.output(net.conv(net.input({1, 64, 1, 4}), 16, 1));
  std::vector<float> numbers(256, 0.7F);
  numbers[0] = kInfinity;
  numbers[1] = -kInfinity;
  numbers[2] = std::numeric_limits<float>::quiet_NaN();
  const std::vector inputs = {make_tensor(ElementType::kFloat32, {1, 64, 1, 4}, numbers)};
  const VariantRunner runner("onednn", net.graph, inputs, {});
  const auto variants = onednn().support(net.graph, region_of(net.graph), {.accuracy = Accuracy::kFast});
  ASSERT_TRUE(variants);
  const auto found = std::ranges::find(*variants, "brgconv_1x1.nhwc+bf16x2", &Variant::name);
  ASSERT_NE(found, variants->end());
  const auto ran = runner.run(*found);
  ASSERT_TRUE(ran) << ran.error().detail;
  const auto got = ran->outputs[0].data.as<float>();
  for (std::size_t channel = 0; channel < 16; ++channel) {
    EXPECT_TRUE(std::isinf(got[4 * channel])) << channel;
    EXPECT_EQ(got[4 * channel], -got[4 * channel + 1]) << channel;
    EXPECT_TRUE(std::isnan(got[4 * channel + 2])) << channel;
    EXPECT_TRUE(std::isfinite(got[4 * channel + 3])) << channel;
  }
}

/// Artifacts come with plan files of others, and a split believes what it is told about memory.
TEST_F(OneDnnSplit, RefusesAProgramThatDoesNotFitItself) {
  Net net;
  net.output(net.conv(net.input({1, 64, 3, 4}), 32, 1));
  const Region region = region_of(net.graph);
  const auto variants = onednn().support(net.graph, region, {.accuracy = Accuracy::kFast});
  ASSERT_TRUE(variants);
  const auto variant = std::ranges::find(*variants, "brgconv_1x1.nhwc+bf16x2", &Variant::name);
  ASSERT_NE(variant, variants->end());
  const CompileRequest compile{.graph = &net.graph, .region = region, .variant = *variant, .model_bytes = {}};
  const auto made = onednn().compile({&compile, 1}, {});
  ASSERT_TRUE(made[0]) << made[0].error().detail;
  const auto code_after = [&](const std::function<void(nlohmann::json&)>& change) {
    Artifact artifact = *made[0];
    nlohmann::json program = nlohmann::json::parse(artifact.bytes);
    change(program);
    artifact.bytes = program.dump();
    const auto kernel = onednn().load(request_of(net.graph, *variant, artifact));
    return kernel ? "" : kernel.error().code;
  };
  ASSERT_EQ(code_after([](nlohmann::json&) {}), "");
  const auto split = [](nlohmann::json& program) -> nlohmann::json& { return program["ops"][0]; };
  const auto parts = [&](nlohmann::json& program) -> nlohmann::json& {
    return program["tensors"][split(program)["output"].get<std::size_t>()];
  };
  const auto weights = [](nlohmann::json& program) -> nlohmann::json& {
    return program["tensors"][program["ops"][1]["inputs"][1].get<std::size_t>()];
  };
  const std::vector<std::function<void(nlohmann::json&)>> changes = {
      [&](nlohmann::json& program) { parts(program)["extents"][1] = 96; },
      [&](nlohmann::json& program) { parts(program)["extents"][2] = 2; },
      [&](nlohmann::json& program) { parts(program)["type"] = "f32"; },
      [&](nlohmann::json& program) { parts(program)["layout"] = "plain"; },
      [&](nlohmann::json& program) {
        parts(program)["strides"] = {2304, 1, 768, 192};
      },
      [&](nlohmann::json& program) { split(program)["inputs"][0] = program["ops"][1]["inputs"][1]; },
      [&](nlohmann::json& program) {
        split(program)["post"] = {{{"kind", "eltwise"}, {"algorithm", "relu"}}};
      },
      [&](nlohmann::json& program) { weights(program)["split_axis"] = 4; },
      [&](nlohmann::json& program) { weights(program)["split_axis"] = -2; },
      [&](nlohmann::json& program) { weights(program)["split_axis"] = 0; },
      [&](nlohmann::json& program) { weights(program)["extents"][1] = 193; },
      [&](nlohmann::json& program) { weights(program)["type"] = "f32"; },
      [&](nlohmann::json& program) { weights(program)["role"] = "literal"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(code_after(changes[i]), "backend/bad-artifact") << i;
}

}  // namespace
}  // namespace collage::test
