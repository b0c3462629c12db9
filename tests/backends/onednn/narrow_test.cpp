// Variants that store and multiply 16-bit elements: accuracy class fast, where the processor multiplies bfloat16.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/narrow_element.h"
#include "base/narrow_float.h"
#include "harness.h"
#include "region/narrow_variant.h"
#include "tests/support/processor.h"

namespace collage::test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using List = std::vector<std::int64_t>;

class OneDnnNarrow : public testing::Test {
 protected:
  void SetUp() override {
    if (!multiplied_narrow_element({.accuracy = Accuracy::kFast}))
      GTEST_SKIP() << "the processor does not multiply bfloat16";
  }

  static std::set<std::string> passed_fast(const Net& net) { return passed(run_every_variant(net, Accuracy::kFast)); }
};

TEST_F(OneDnnNarrow, ConvolvesInEveryLayout) {
  Net net;
  const ValueId y = net.conv(net.input({2, 32, 9, 10}), 48, 3, {.pad = 1});
  net.output(net.same("Relu", {y}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"brgconv.nhwc.bf16", "brgconv.nhwc.bf16_in", "jit.nhwc.bf16",
                                              "jit.blocked.bf16", "jit.blocked.bf16_in", "gemm.plain.bf16"}));
}

TEST_F(OneDnnNarrow, MultipliesPixelsByPixels) {
  Net net;
  net.output(net.same("Sigmoid", {net.conv(net.input({2, 32, 5, 6}), 40, 1)}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"brgconv_1x1.nhwc.bf16", "brgconv_1x1.nhwc.bf16_in", "jit_1x1.nhwc.bf16",
                                              "jit_1x1.blocked.bf16", "jit_1x1.blocked.bf16_in"}));
}

TEST_F(OneDnnNarrow, ConvolvesByChannel) {
  Net net;
  net.output(net.same("Relu", {net.conv(net.input({1, 32, 9, 9}), 32, 3, {.stride = 2, .pad = 1, .group = 32})}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"brdgmm_dw.nhwc.bf16", "jit_dw.nhwc.bf16", "jit_dw.blocked.bf16",
                                              "jit_dw.blocked.bf16_in"}));
}

TEST_F(OneDnnNarrow, JoinsGroupsToWholeBlocks) {
  Net net;
  net.output(net.conv(net.input({1, 32, 7, 7}), 32, 3, {.pad = 1, .group = 8}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"merged_jit.blocked.bf16", "jit.nhwc.bf16"}));
}

TEST_F(OneDnnNarrow, ReadsAnImageOfThreeChannels) {
  Net net;
  net.output(net.conv(net.input({1, 3, 15, 15}), 32, 3, {.stride = 2, .pad = 1}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"jit.plain-blocked.bf16", "jit.plain-blocked.bf16_in"}));
}

TEST_F(OneDnnNarrow, AddsANarrowResidualApartAndInPlace) {
  Net net;
  const ValueId x = net.input({1, 32, 7, 7});
  const ValueId y = net.conv(x, 32, 3, {.pad = 1});
  net.output(net.same("Relu", {net.same("Add", {y, net.input({1, 32, 7, 7})})}));
  const auto names = passed_fast(net);
  EXPECT_THAT(names, IsSupersetOf({"brgconv.nhwc.bf16", "brgconv.nhwc.bf16_in", "brgconv.nhwc+sum.bf16",
                                   "jit.blocked.bf16", "jit.blocked+sum.bf16"}));
  EXPECT_FALSE(names.contains("brgconv.nhwc+sum.bf16_in"));
}

TEST_F(OneDnnNarrow, LimitsTwiceToDifferentBounds) {
  Net net;
  ValueId y = net.conv(net.input({1, 16, 5, 6}), 32, 1);
  y = net.same("Clip", {y, net.scalar(-2), net.scalar(2)});
  net.output(net.same("Clip", {y, net.scalar(-1), net.scalar(1)}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"brgconv_1x1.nhwc.bf16", "gemm.plain.bf16", "gemm.plain.bf16_in"}));
}

TEST_F(OneDnnNarrow, ScalesChannelsByComputedNumbers) {
  Net net;
  const ValueId y = net.conv(net.input({1, 32, 7, 7}), 32, 1);
  net.output(net.same("Mul", {net.same("Relu", {y}), net.input({1, 32, 1, 1})}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"brgconv_1x1.nhwc.bf16", "jit_1x1.blocked.bf16"}));
}

TEST_F(OneDnnNarrow, HasNoKernelForADepthwiseConvolutionFusedAfterAPointwiseOne) {
  Net net;
  const ValueId y = net.same("Relu", {net.conv(net.input({1, 32, 9, 9}), 64, 1)});
  net.output(net.same("Relu", {net.conv(y, 64, 3, {.pad = 1, .group = 64})}));
  const auto variants = onednn().support(net.graph, region_of(net.graph), {.accuracy = Accuracy::kFast});
  ASSERT_TRUE(variants);
  EXPECT_TRUE(std::ranges::none_of(*variants, has_narrow_port));
}

TEST_F(OneDnnNarrow, JoinsConvolutionsInBlocks) {
  Net net;
  const ValueId x = net.input({1, 32, 7, 7});
  const ValueId left = net.same("Relu", {net.conv(x, 32, 3, {.pad = 1})});
  const ValueId right = net.same("Relu", {net.conv(x, 48, 1)});
  net.output(net.op("Concat", {left, right}, {1, 80, 7, 7}, {{"axis", std::int64_t{1}}}));
  const auto names = passed_fast(net);
  EXPECT_THAT(names, IsSupersetOf({"jit.blocked", "jit.blocked.bf16"}));
  EXPECT_FALSE(names.contains("wino_2x3.blocked.bf16"));
}

TEST_F(OneDnnNarrow, RunsConvolutionsInStrips) {
  Net net;
  const ValueId y = net.same("Relu", {net.conv(net.input({1, 8, 132, 132}), 32, 1)});
  net.output(net.conv(y, 16, 1));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"strips_brgconv.nhwc.bf16", "strips_jit.nhwc.bf16_in"}));
}

TEST_F(OneDnnNarrow, TransposesConvolutions) {
  for (const std::int64_t kernel : {2, 3}) {
    Net net;
    const ValueId weights = net.constant({16, 32, kernel, kernel});
    const std::int64_t extent = 6 * 2 + kernel - 2;
    const ValueId y = net.op("ConvTranspose", {net.input({1, 16, 6, 6}), weights, net.constant({32})},
                             {1, 32, extent, extent}, {{"strides", List{2, 2}}});
    net.output(net.same("Relu", {y}));
    EXPECT_THAT(passed_fast(net), IsSupersetOf({"direct.nhwc.bf16", "direct.nhwc.bf16_in", "direct.blocked.bf16"}));
  }
}

TEST_F(OneDnnNarrow, MultipliesByConstantsAndByComputedMatrices) {
  Net constant;
  ValueId y = constant.op("MatMul", {constant.input({2, 7, 24}), constant.constant({24, 48})}, {2, 7, 48});
  y = constant.same("Gelu", {constant.same("Add", {y, constant.constant({48})})});
  constant.output(constant.same("Add", {constant.input({2, 7, 48}), y}));
  EXPECT_THAT(passed_fast(constant), IsSupersetOf({"brgemm.plain.bf16", "brgemm.plain.bf16_in", "gemm.plain.bf16",
                                                   "ip_brgemm.plain.bf16", "ip_brgemm.plain.bf16_in"}));
  Net computed;
  y = computed.op("MatMul", {computed.input({2, 3, 8, 16}), computed.input({2, 3, 16, 8})}, {2, 3, 8, 8});
  computed.output(computed.same("Add", {computed.same("Div", {y, computed.scalar(4)}), computed.input({2, 1, 1, 8})}));
  EXPECT_THAT(passed_fast(computed), IsSupersetOf({"brgemm.plain.bf16", "brgemm.plain.bf16_in"}));
}

TEST_F(OneDnnNarrow, TakesGemmWithItsFactors) {
  Net net;
  const ValueId y = net.op("Gemm", {net.input({6, 32}), net.constant({20, 32}), net.constant({20})}, {6, 20},
                           {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.F}});
  net.output(net.same("Relu", {y}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"brgemm.plain.bf16", "ip_brgemm.plain.bf16"}));
}

TEST_F(OneDnnNarrow, ComputesElementByElement) {
  Net sum;
  sum.output(sum.same("Relu", {sum.same("Add", {sum.input({1, 32, 5, 6}), sum.input({1, 32, 5, 6})})}));
  EXPECT_THAT(passed_fast(sum), IsSupersetOf({"direct.plain.bf16", "direct.nhwc.bf16", "direct.blocked.bf16"}));
  Net chain;
  const ValueId y = chain.same("Tanh", {chain.same("Sigmoid", {chain.input({1, 32, 5, 6})})});
  chain.output(chain.same("Mul", {y, chain.constant({1, 32, 1, 1})}));
  EXPECT_THAT(passed_fast(chain), IsSupersetOf({"direct.plain.bf16", "direct.nhwc.bf16", "direct.blocked.bf16"}));
}

TEST_F(OneDnnNarrow, PoolsInEveryLayout) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    Net net;
    net.output(net.pool(type, net.input({1, 32, 8, 8}), 2, {.stride = 2}));
    EXPECT_THAT(passed_fast(net), IsSupersetOf({"direct.plain.bf16", "direct.nhwc.bf16", "direct.blocked.bf16"}))
        << type;
  }
}

TEST_F(OneDnnNarrow, WorksAlongAnAxis) {
  Net softmax;
  softmax.output(softmax.same("Softmax", {softmax.input({3, 7, 24})}, {{"axis", std::int64_t{-1}}}));
  EXPECT_THAT(passed_fast(softmax), Contains("direct.plain.bf16"));
  Net across;
  across.output(across.same("Softmax", {across.input({2, 7, 24})}, {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(passed_fast(across), Contains("direct.plain.bf16"));
  Net norm;
  norm.output(norm.same("LayerNormalization", {norm.input({3, 7, 24}), norm.constant({24}), norm.constant({24})},
                        {{"axis", std::int64_t{-1}}}));
  EXPECT_THAT(passed_fast(norm), Contains("direct.plain.bf16"));
}

TEST_F(OneDnnNarrow, JoinsParts) {
  Net net;
  net.output(net.op("Concat", {net.input({2, 16, 3, 5}), net.input({2, 48, 3, 5}), net.constant({2, 16, 3, 5})},
                    {2, 80, 3, 5}, {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(passed_fast(net), IsSupersetOf({"direct.plain.bf16", "direct.nhwc.bf16", "direct.blocked.bf16"}));
  Net parts;
  parts.output(parts.op("Concat", {parts.input({2, 16, 3, 5}), parts.input({2, 48, 3, 5})}, {2, 64, 3, 5},
                        {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(passed_fast(parts), IsSupersetOf({"parts.plain.bf16", "parts.nhwc.bf16", "parts.blocked.bf16"}));
}

TEST_F(OneDnnNarrow, ResizesByProductsWithNarrowWeights) {
  Net net;
  const ValueId factors = add_constant(net.graph, "", make_tensor<float>(ElementType::kFloat32, {4}, {1, 1, 2, 2.5F}));
  net.output(
      net.op("Resize", {net.input({1, 24, 5, 6}), ValueId{}, factors}, {1, 24, 10, 15},
             {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("align_corners")}}));
  EXPECT_THAT(passed_fast(net), Contains("brgemm.nhwc.bf16"));
}

TEST_F(OneDnnNarrow, WritesPartsOfAConcatInPlaceAlsoInNarrowBlocks) {
  Net net;
  const ValueId x = net.input({1, 32, 8, 8});
  const ValueId whole =
      net.op("Concat", {net.same("Relu", {x}), net.same("Tanh", {x})}, {1, 64, 8, 8}, {{"axis", std::int64_t{1}}});
  net.output(net.same("Relu", {whole}));
  NodeSet nodes(net.graph.nodes.size());
  nodes.insert(2);
  const auto variants =
      onednn().support(net.graph, make_region(net.graph, uses_of(net.graph), nodes), {.accuracy = Accuracy::kFast});
  ASSERT_TRUE(variants);
  const auto is_narrow_view = [](const Variant& variant) {
    return variant.name == "view" && variant.output_formats[0].name.ends_with("c.bf16") &&
           variant.input_formats == std::vector<Format>(2, variant.output_formats[0]);
  };
  EXPECT_EQ(std::ranges::count_if(*variants, is_narrow_view), 1);
}

TEST_F(OneDnnNarrow, LeavesIntegersAsTheyAre) {
  Net net;
  const auto integers = [&] {
    const ValueId id = add_value(net.graph, "", ValueType::tensor(ElementType::kInt32, Extents{2, 16, 3, 5}));
    net.graph.inputs.push_back(id);
    return id;
  };
  const std::vector<ValueId> parts = {integers(), integers()};
  const ValueId whole = net.op("Concat", parts, {2, 32, 3, 5}, {{"axis", std::int64_t{1}}});
  net.graph.value(whole).type.element = ElementType::kInt32;
  net.output(whole);
  const auto variants = onednn().support(net.graph, region_of(net.graph), {.accuracy = Accuracy::kFast});
  ASSERT_TRUE(variants);
  EXPECT_TRUE(std::ranges::none_of(*variants, has_narrow_port));
}

TEST(OneDnnFull, StandardAndStrictHaveNoNarrowPorts) {
  Net net;
  net.output(net.same("Relu", {net.conv(net.input({1, 32, 7, 7}), 32, 3, {.pad = 1})}));
  for (const Accuracy accuracy : {Accuracy::kStandard, Accuracy::kStrict}) {
    const auto variants = onednn().support(net.graph, region_of(net.graph), {.accuracy = accuracy});
    ASSERT_TRUE(variants);
    EXPECT_TRUE(std::ranges::none_of(*variants, has_narrow_port));
  }
}

/// The bytes of a tensor in another format.
std::vector<std::byte> converted(const ValueType& type, const Format& from, const std::vector<std::byte>& in,
                                 const Format& to) {
  const Conversion conversion{.type = type, .from = {.format = from}, .to = {.format = to}};
  const auto artifact = compile_conversion(onednn(), conversion, {});
  EXPECT_TRUE(artifact) << artifact.error().detail;
  if (!artifact) return {};
  LoadRequest request{.artifact = *artifact, .threads = 1};
  request.inputs = {{.name = "in", .type = type, .place = conversion.from}};
  request.outputs = {{.name = "out", .type = type, .place = conversion.to}};
  const auto kernel = other_onednn().load(request);
  EXPECT_TRUE(kernel) << to_string(kernel.error());
  if (!kernel) return {};
  const AlignedBytes source(in.size());
  const AlignedBytes target(*format_bytes(onednn(), type, to), 0xff);
  const AlignedBytes scratch(artifact->workspace_bytes);
  std::memcpy(source.data(), in.data(), in.size());
  const auto call =
      (*kernel)->bind({.inputs = {source.data()}, .outputs = {target.data()}, .workspace = scratch.data()});
  EXPECT_TRUE(call && (*call)->run());
  std::vector<std::byte> out(*format_bytes(onednn(), type, to));
  std::memcpy(out.data(), target.data(), out.size());
  return out;
}

/// The tensor's bytes in a format by the rule of the common ones: those of a named format come from the library.
std::vector<std::byte> stored(const ValueType& type, const std::vector<float>& numbers, const Format& format) {
  std::vector<std::byte> full(numbers.size() * sizeof(float));
  std::memcpy(full.data(), numbers.data(), full.size());
  const Format common = !is_common(format) ? plain() : format;
  const Format order = format.narrow() && !common.narrow() ? stored_as(common, *format.narrow()) : common;
  std::vector<std::byte> bytes(*common_format_bytes(type, order));
  convert_common_format(type, plain(), full.data(), order, bytes.data());
  return order == format ? bytes : converted(type, order, bytes, format);
}

/// Finite and normal, of every magnitude, with ties that round to even.
std::vector<float> many_numbers(std::int64_t count) {
  std::vector<float> numbers;
  std::uint32_t state = 7;
  while (std::ssize(numbers) < count) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t exponent = 64 + state % 128;
    const std::uint32_t tie = state % 5 == 0 ? 0x8000U : state >> 9U & 0xffffU;
    numbers.push_back(std::bit_cast<float>((state & 0x80000000U) | exponent << 23U | (state >> 3U & 0x7f0000U) | tie));
  }
  return numbers;
}

TEST_F(OneDnnNarrow, ConvertsLikeTheCommonFormats) {
  for (const Extents& extents :
       {Extents{2, 24, 3, 5}, Extents{1, 32, 7, 4}, Extents{2, 20, 9}, Extents{1, 16, 2, 3, 4}}) {
    const ValueType type = ValueType::tensor(ElementType::kFloat32, extents);
    const std::vector<float> numbers = many_numbers(element_count(extents));
    std::vector<Format> formats = {plain(), channels_last(), {has_avx512() ? "onednn:nChw16c" : "onednn:nChw8c"}};
    for (std::size_t f = 0; f < 3; ++f) formats.push_back(stored_as(formats[f], ElementType::kBfloat16));
    for (const Format& from : formats)
      for (const Format& to : formats) {
        if (from == to) continue;
        SCOPED_TRACE(from.name + " to " + to.name);
        // What was rounded once stays rounded.
        std::vector<float> kept = numbers;
        if (from.narrow())
          for (float& number : kept) number = from_bfloat(to_bfloat(number));
        EXPECT_EQ(converted(type, from, stored(type, numbers, from), to), stored(type, kept, to));
      }
  }
}

TEST(OneDnnFormat, NarrowBlocksTakeHalfTheBytes) {
  const ValueType type = ValueType::tensor(ElementType::kFloat32, Extents{1, 24, 3, 5});
  const Format blocked{has_avx512() ? "onednn:nChw16c" : "onednn:nChw8c"};
  const auto full = format_bytes(onednn(), type, blocked);
  const auto narrow = format_bytes(onednn(), type, stored_as(blocked, ElementType::kBfloat16));
  ASSERT_TRUE(full && narrow);
  EXPECT_EQ(*full, 2 * *narrow);
  EXPECT_FALSE(format_bytes(onednn(), type, stored_as(blocked, ElementType::kFloat16)));
  const ValueType integers = ValueType::tensor(ElementType::kInt32, Extents{1, 24, 3, 5});
  EXPECT_FALSE(format_bytes(onednn(), integers, stored_as(blocked, ElementType::kBfloat16)));
}

}  // namespace
}  // namespace collage::test
