// Elements of 16 bits: where kernels with such ports are offered, and that they use the processor's own instructions.
#include "narrow_fixture.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "region/narrow_variant.h"
#include "tests/support/dice.h"

namespace collage::test {
namespace {

const std::string kSum =
    "graph(%a: f32[2,8,5,3], %b: f32[8,1,1]) -> (%y) { %s: f32[2,8,5,3] = Add(%a, %b) %y: f32[2,8,5,3] = Relu(%s) }";

TEST(Narrow, IsOfferedInClassFastAlone) {
  const Graph graph = graph_of(kSum);
  for (const Accuracy accuracy : {Accuracy::kStrict, Accuracy::kStandard, Accuracy::kFast}) {
    const auto variants = variants_of(compiling(), graph, {.accuracy = accuracy});
    EXPECT_EQ(std::ranges::any_of(variants, has_narrow_port), accuracy == Accuracy::kFast);
  }
}

TEST(Narrow, IsRefusedInOtherClassesWhateverTheNameSays) {
  const NarrowElement forced(ElementType::kBfloat16);
  const Graph graph = graph_of(kSum);
  const Variant variant = variant_of(compiling(), graph, "flat.plain.bf16", fast_options());
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
  const auto artifacts = compiling().compile({&request, 1}, {});
  ASSERT_FALSE(artifacts[0]);
  EXPECT_EQ(artifacts[0].error().reason, RefusalReason::kFormat);
}

/// An instruction of the map 0F38 on whole registers, by its mandatory prefix as EVEX encodes it and its opcode.
struct Instruction {
  unsigned prefix;
  unsigned opcode;
};
constexpr Instruction kMultiplyPairs = {.prefix = 2, .opcode = 0x52};  ///< VDPBF16PS
constexpr Instruction kMultiplyWords = {.prefix = 1, .opcode = 0x52};  ///< VPDPWSSD
constexpr Instruction kRound = {.prefix = 3, .opcode = 0x72};          ///< VCVTNE2PS2BF16

bool has_instruction(std::string_view code, const Instruction& wanted) {
  for (std::size_t i = 0; i + 5 < code.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(code[i + at]); };
    const bool is_map = (byte(1) & 0x07U) == 2;
    const bool is_prefix = (byte(2) & 0x87U) == (0x04U | wanted.prefix);
    const bool is_512 = (byte(3) & 0x60U) == 0x40;
    if (byte(0) == 0x62 && is_map && is_prefix && is_512 && byte(4) == wanted.opcode) return true;
  }
  return false;
}

bool has_instruction(const Graph& graph, const Variant& variant, const Instruction& wanted) {
  return has_instruction(artifact_of(compiling(), graph, variant, fast_options()).bytes, wanted);
}

TEST(Narrow, MultipliesPairsInOneInstruction) {
  if (!has_narrow_arithmetic()) GTEST_SKIP() << "no arithmetic of 16 bits here";
  for (const std::string text :
       {"graph(%x: f32[1,16,12,12], %w: f32[64,16,3,3]) -> (%y) { %y: f32[1,64,12,12] = Conv(%x, %w) "
        "{kernel_shape=[3,3], pads=[1,1,1,1]} }",
        "graph(%x: f32[1,64,12,12], %w: f32[64,64,1,1]) -> (%y) { %y: f32[1,64,12,12] = Conv(%x, %w) "
        "{kernel_shape=[1,1]} }",
        "graph(%a: f32[24,64], %w: f32[64,64]) -> (%y) { %y: f32[24,64] = MatMul(%a, %w) }"}) {
    const Graph graph = graph_of(text);
    const Variant pairs = variant_of(compiling(), graph, "pairs.", fast_options());
    const bool is_product = text.find("MatMul") != std::string::npos;
    const Variant fixed = variant_of(compiling(), graph, is_product ? "packed+i16." : "direct+i16.", fast_options());
    EXPECT_TRUE(has_instruction(graph, pairs, kMultiplyPairs)) << text;
    EXPECT_TRUE(has_instruction(graph, fixed, kMultiplyWords)) << text;
    for (const Variant& variant : variants_of(compiling(), graph)) {
      const Artifact artifact = artifact_of(compiling(), graph, variant);
      EXPECT_FALSE(has_instruction(artifact.bytes, kMultiplyPairs)) << variant.name;
      EXPECT_FALSE(has_instruction(artifact.bytes, kMultiplyWords)) << variant.name;
    }
  }
}

TEST(Narrow, RoundsInOneInstruction) {
  if (!has_narrow_arithmetic()) GTEST_SKIP() << "no arithmetic of 16 bits here";
  const Graph graph = graph_of("graph(%a: f32[640], %b: f32[640]) -> (%y) { %y: f32[640] = Add(%a, %b) }");
  EXPECT_TRUE(has_instruction(graph, variant_of(compiling(), graph, "flat.plain.bf16", fast_options()), kRound));
  EXPECT_FALSE(has_instruction(graph, variant_of(compiling(), graph, "flat.plain", fast_options()), kRound));
}

/// Code for older processors computes the same products without such an instruction.
TEST(Narrow, RunsOnOlderProcessors) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const NarrowElement forced(ElementType::kBfloat16);
  CompileOptions options = fast_options();
  options.portable = true;
  const std::string product = "graph(%a: f32[9,24], %w: f32[24,40]) -> (%y) { %y: f32[9,40] = MatMul(%a, %w) }";
  const std::string convolution =
      "graph(%x: f32[1,32,9,9], %w: f32[48,32,3,3]) -> (%y) { %y: f32[1,48,9,9] = Conv(%x, %w) {kernel_shape=[3,3], "
      "pads=[1,1,1,1]} }";
  for (const auto& [text, way] : std::vector<std::pair<std::string, std::string>>{{product, "pairs."},
                                                                                  {product, "packed+i16."},
                                                                                  {convolution, "direct+i16."},
                                                                                  {convolution, "winograd4+i16."}}) {
    const Graph graph = graph_of(text);
    const Variant variant = variant_of(compiling(), graph, way, options);
    const Artifact artifact = artifact_of(compiling(), graph, variant, options);
    const LoadRequest request = request_of(graph, variant, artifact);
    const auto kernel = loading("native:isa=avx2").load(request);
    ASSERT_TRUE(kernel) << to_string(kernel.error());
    EXPECT_EQ(difference(run_twice(**kernel, request, narrow_inputs_of(graph, ElementType::kBfloat16)),
                         narrow_expected_of(graph, ElementType::kBfloat16), Accuracy::kFast),
              "")
        << variant.name;
  }
}

/// Products in fixed point, with inputs of the test's own.
class FixedPoint : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_reference()) GTEST_SKIP() << "no reference here";
  }

  /// The outputs in fixed point, and those of the reference.
  std::pair<std::vector<float>, std::vector<float>> outputs(const std::string& text,
                                                            const std::vector<std::vector<float>>& inputs) {
    const std::string way = text.find("MatMul") != std::string::npos ? "packed+i16." : "direct+i16.";
    const Graph graph = graph_of(text);
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      tensors.push_back(make_tensor(ElementType::kFloat32, graph.value(graph.inputs[i]).type.extents(), inputs[i]));
    const auto ran = VariantRunner("native", graph, tensors, fast_options())
                         .run(variant_of(compiling(), graph, way, fast_options()));
    EXPECT_TRUE(ran) << ran.error().detail;
    if (!ran) return {};
    const auto made = ran->outputs[0].data.as<float>();
    const std::vector<Tensor> expected = expected_of(graph, tensors);
    const auto right = expected[0].data.as<float>();
    return {{made.begin(), made.end()}, {right.begin(), right.end()}};
  }

  static double error(const std::pair<std::vector<float>, std::vector<float>>& both) {
    double most = 0;
    double largest = 0;
    for (std::size_t i = 0; i < both.first.size(); ++i) {
      most = std::max(most, std::abs(static_cast<double>(both.first[i]) - both.second[i]));
      largest = std::max(largest, std::abs(static_cast<double>(both.second[i])));
    }
    return most / largest;
  }

 private:
  const NarrowElement forced_{ElementType::kBfloat16};
};

TEST_F(FixedPoint, ErrsLessThanATenthOfAPercent) {
  Dice dice(3);
  std::vector<float> x(64 * 12 * 12);
  for (float& one : x) one = (static_cast<float>(dice.below(2001)) - 1000) / 1000;
  for (const std::string text :
       {"graph(%x: f32[1,64,12,12], %w: f32[64,64,3,3]) -> (%y) { %y: f32[1,64,12,12] = Conv(%x, %w) "
        "{kernel_shape=[3,3], pads=[1,1,1,1]} }",
        "graph(%x: f32[1,64,12,12], %w: f32[64,64,1,1]) -> (%y) { %y: f32[1,64,12,12] = Conv(%x, %w) "
        "{kernel_shape=[1,1]} }",
        "graph(%a: f32[144,64], %w: f32[64,64]) -> (%y) { %y: f32[144,64] = MatMul(%a, %w) }"})
    EXPECT_LT(error(outputs(text, {x})), 1e-3) << text;
}

/// All products of a sum as large as they can be, of the same sign.
TEST_F(FixedPoint, HasRoomForTheLargestSums) {
  for (const int depth : {64, 128, 512, 520, 2048}) {
    const std::string text =
        fmt::format("graph(%a: f32[2,{0}], %w: f32[{0},16]) -> (%y) {{ %y: f32[2,16] = MatMul(%a, %w) }}", depth);
    EXPECT_LT(error(outputs(text, {std::vector<float>(static_cast<std::size_t>(2 * depth), 3.F)})), 2e-3) << depth;
  }
}

TEST_F(FixedPoint, OfInfinityIsNoNumberInItsRowAlone) {
  std::vector<float> a(3 * 24, 0.5F);
  a[24] = std::numeric_limits<float>::infinity();
  a[50] = std::numeric_limits<float>::quiet_NaN();
  const auto [made, expected] =
      outputs("graph(%a: f32[3,24], %w: f32[24,16]) -> (%y) { %y: f32[3,16] = MatMul(%a, %w) }", {a});
  ASSERT_EQ(made.size(), 48U);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(made[i], expected[i], 1e-2);
    EXPECT_TRUE(std::isnan(made[16 + i])) << made[16 + i];
    EXPECT_TRUE(std::isnan(made[32 + i])) << made[32 + i];
  }
}

TEST_F(FixedPoint, OfZerosAndDenormalsIsFinite) {
  std::vector<float> a(2 * 24, 0.F);
  a[30] = 1e-40F;
  const auto [made, expected] =
      outputs("graph(%a: f32[2,24], %w: f32[24,16]) -> (%y) { %y: f32[2,16] = MatMul(%a, %w) }", {a});
  for (const float one : made) EXPECT_LT(std::abs(one), 1e-30F);
}

TEST(Narrow, WeightsPackedSoAreOfferedForFewRowsInClassFastAlone) {
  for (const ElementType element : kNarrowElements) {
    const NarrowElement forced(element);
    const std::string row = std::string(name_of(element)) + "_weights";
    const auto offers = [&](const std::string& rows, Accuracy accuracy) {
      const Graph graph = graph_of("graph(%a: f32[" + rows + ",64], %w: f32[64,64]) -> (%y) { %y: f32[" + rows +
                                   ",64] = MatMul(%a, %w) }");
      return std::ranges::any_of(variants_of(compiling(), graph, {.accuracy = accuracy}), [&](const Variant& variant) {
        return variant.name.starts_with(row) && !has_narrow_port(variant);
      });
    };
    EXPECT_TRUE(offers("1", Accuracy::kFast)) << row;
    EXPECT_FALSE(offers("64", Accuracy::kFast)) << row;
    EXPECT_FALSE(offers("1", Accuracy::kStandard)) << row;
  }
}

/// By an instruction of F16C or AVX512_FP16 for eight numbers or more, not by a function for each.
TEST(Narrow, ConvertsHalfPrecisionInOneInstruction) {
  const NarrowElement forced(ElementType::kFloat16);
  // AVX512_FP16 would compute a lone sum without any conversion.
  const Graph graph =
      graph_of("graph(%a: f32[640], %b: f32[640]) -> (%y) { %m: f32[640] = Mul(%a, %b) %y: f32[640] = Add(%m, %b) }");
  // VEX.128/256.66.0F38.W0 13 and VEX.128/256.66.0F3A.W0 1D, or their EVEX forms; EVEX.66.MAP6.W0 13 and
  // EVEX.66.MAP5.W0 1D.
  const auto counts = [&](const std::string& name) {
    const std::string code =
        artifact_of(compiling(), graph, variant_of(compiling(), graph, name, fast_options()), fast_options()).bytes;
    const auto count = [&](unsigned map, unsigned half_map, unsigned opcode) {
      std::size_t found = 0;
      for (std::size_t i = 0; i + 5 < code.size(); ++i) {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(code[i + at]); };
        const bool is_vex =
            byte(0) == 0xc4 && (byte(1) & 0x1fU) == map && (byte(2) & 0x83U) == 0x01 && byte(3) == opcode;
        const unsigned evex_map = byte(1) & 0x07U;
        const bool is_evex = byte(0) == 0x62 && (evex_map == map || evex_map == half_map) &&
                             (byte(2) & 0x87U) == 0x05 && byte(4) == opcode;
        found += is_vex || is_evex ? 1 : 0;
      }
      return found;
    };
    return std::pair(count(2, 6, 0x13), count(3, 5, 0x1d));
  };
  const auto [widened, rounded] = counts("flat.plain.f16");
  EXPECT_GE(widened, 2U);
  EXPECT_GE(rounded, 1U);
  EXPECT_EQ(counts("flat.plain"), std::pair(std::size_t{0}, std::size_t{0}));
}

}  // namespace
}  // namespace collage::test
