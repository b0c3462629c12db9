// Products, and heads that work along an axis.
#include <gmock/gmock.h>

#include <algorithm>

#include "backend/extensions/format_extension.h"
#include "harness.h"

namespace collage::test {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::IsSupersetOf;
using List = std::vector<std::int64_t>;

struct Product {
  const char* name;
  Extents a, b, out;
  bool constant;
};

class OneDnnProduct : public testing::TestWithParam<Product> {};

TEST_P(OneDnnProduct, MatchesPlainLoops) {
  const Product& p = GetParam();
  Net net;
  net.output(net.op("MatMul", {net.input(p.a), p.constant ? net.constant(p.b) : net.input(p.b)}, p.out));
  EXPECT_THAT(passed(run_every_variant(net)), Contains(AnyOf("brgemm.plain", "gemm.plain")));
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneDnnProduct,
                         testing::Values(Product{"matrix", {9, 33}, {33, 17}, {9, 17}, true},
                                         Product{"matrix_computed", {9, 33}, {33, 17}, {9, 17}, false},
                                         Product{"row", {1, 64}, {64, 40}, {1, 40}, true},
                                         Product{"sequence", {2, 7, 24}, {24, 48}, {2, 7, 48}, true},
                                         Product{"batched", {2, 3, 7, 16}, {2, 3, 16, 9}, {2, 3, 7, 9}, false},
                                         Product{"batch_broadcast", {2, 3, 7, 16}, {1, 3, 16, 9}, {2, 3, 7, 9}, false},
                                         Product{"batch_constant", {3, 7, 16}, {3, 16, 9}, {3, 7, 9}, true},
                                         Product{"by_vector", {5, 16}, {16}, {5}, true},
                                         Product{"vector", {16}, {16, 6}, {6}, true}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(OneDnnProduct, FusesTheTailOfADenseLayer) {
  Net net;
  ValueId y = net.op("MatMul", {net.input({2, 7, 24}), net.constant({24, 48})}, {2, 7, 48});
  y = net.same("Add", {y, net.constant({48})});
  y = net.same("Gelu", {y});
  net.output(net.same("Add", {net.input({2, 7, 48}), y}));
  EXPECT_THAT(passed(run_every_variant(net)),
              IsSupersetOf(here({"brgemm.plain", "gemm.plain", "ip_brgemm.plain", "ip_gemm.plain"})));
}

TEST(OneDnnProduct, ScalesAndMasksAttention) {
  Net net;
  ValueId y = net.op("MatMul", {net.input({2, 3, 8, 16}), net.input({2, 3, 16, 8})}, {2, 3, 8, 8});
  y = net.same("Div", {y, net.scalar(4)});
  net.output(net.same("Add", {y, net.input({2, 1, 1, 8})}));
  EXPECT_FALSE(passed(run_every_variant(net)).empty());
}

TEST(OneDnnProduct, FoldsTransposes) {
  Net net;
  const ValueId keys = net.op("Transpose", {net.input({2, 8, 3, 16})}, {2, 3, 16, 8}, {{"perm", List{0, 2, 3, 1}}});
  net.output(net.op("MatMul", {net.input({2, 3, 8, 16}), keys}, {2, 3, 8, 8}));
  EXPECT_FALSE(passed(run_every_variant(net)).empty());
}

TEST(OneDnnProduct, FoldsATransposeOfTheResult) {
  Net net;
  const ValueId y = net.op("MatMul", {net.input({2, 3, 8, 8}), net.input({2, 3, 8, 16})}, {2, 3, 8, 16});
  net.output(net.op("Transpose", {y}, {2, 8, 3, 16}, {{"perm", List{0, 2, 1, 3}}}));
  EXPECT_FALSE(passed(run_every_variant(net)).empty());
}

TEST(OneDnnProduct, TakesEveryFormOfGemm) {
  for (const std::int64_t ta : {0, 1})
    for (const std::int64_t tb : {0, 1})
      for (const Extents& bias : {Extents{20}, Extents{6, 1}, Extents{6, 20}, Extents{1}}) {
        Net net;
        const ValueId a = net.input(ta ? Extents{32, 6} : Extents{6, 32});
        const ValueId b = net.constant(tb ? Extents{20, 32} : Extents{32, 20});
        const ValueId y = net.op("Gemm", {a, b, net.constant(bias)}, {6, 20},
                                 {{"transA", ta}, {"transB", tb}, {"alpha", 0.5F}, {"beta", 2.F}});
        net.output(net.same("Relu", {y}));
        EXPECT_THAT(passed(run_every_variant(net)), Contains(AnyOf("brgemm.plain", "gemm.plain")))
            << ta << tb << bias.size();
      }
}

TEST(OneDnnProduct, ScalesAGemmOfComputedFactors) {
  Net net;
  net.output(net.op("Gemm", {net.input({6, 32}), net.input({20, 32}), net.constant({20})}, {6, 20},
                    {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.F}}));
  EXPECT_THAT(passed(run_every_variant(net)), Contains(AnyOf("brgemm.plain", "gemm.plain")));
}

TEST(OneDnnConcat, JoinsAlongEveryAxis) {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    Net net;
    const Extents part = {2, 32, 3, 5};
    Extents out = part;
    out[axis] *= 2;
    const auto attribute = static_cast<std::int64_t>(axis);
    net.output(net.op("Concat", {net.input(part), net.input(part)}, out, {{"axis", attribute}}));
    const auto names = passed(run_every_variant(net));
    EXPECT_THAT(names,
                IsSupersetOf(here({"direct.plain", "direct.nhwc", "direct.blocked", "parts.plain", "parts.nhwc"})));
    EXPECT_EQ(names.contains("parts.blocked"), axis == 1);
  }
}

TEST(OneDnnConcat, JoinsUnequalParts) {
  Net net;
  net.output(net.op("Concat", {net.input({2, 16, 3, 5}), net.input({2, 48, 3, 5}), net.input({2, 32, 3, 5})},
                    {2, 96, 3, 5}, {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"parts.plain", "parts.nhwc", "parts.blocked"})));
}

TEST(OneDnnConcat, IsAViewInBlocksWhereItsPartsCanBeWrittenInPlace) {
  const auto offers_view = [](std::int64_t batch, std::int64_t channels) {
    Net net;
    const ValueId x = net.input({batch, channels, 3, 5});
    const ValueId whole = net.op("Concat", {net.same("Relu", {x}), net.same("Tanh", {x})}, {batch, 2 * channels, 3, 5},
                                 {{"axis", std::int64_t{1}}});
    net.output(net.same("Relu", {whole}));
    NodeSet nodes(net.graph.nodes.size());
    nodes.insert(2);
    const auto variants = onednn().support(net.graph, make_region(net.graph, uses_of(net.graph), nodes), {});
    if (!variants) return false;
    const auto view = std::ranges::find(*variants, "view", &Variant::name);
    return view != variants->end() && !view->input_formats[0].owner().empty();
  };
  EXPECT_TRUE(offers_view(1, 32));
  EXPECT_FALSE(offers_view(2, 32));
  EXPECT_FALSE(offers_view(1, 24));
}

TEST(OneDnnConcat, RefusesBlocksThatChannelsDoNotFill) {
  Net net;
  net.output(net.op("Concat", {net.input({1, 20, 3, 5}), net.input({1, 12, 3, 5})}, {1, 32, 3, 5},
                    {{"axis", std::int64_t{1}}}));
  const auto names = passed(run_every_variant(net));
  EXPECT_THAT(names, IsSupersetOf(here({"direct.plain", "direct.nhwc"})));
  EXPECT_FALSE(names.contains("direct.blocked"));
}

TEST(OneDnnResize, TakesWhatHasTheSameMeaning) {
  const auto scaled = [](Net& net, const std::vector<float>& scales, const Extents& out, const char* mode,
                         const char* transform) {
    const ValueId factors = add_constant(net.graph, "", make_tensor(ElementType::kFloat32, {4}, scales));
    net.output(net.op("Resize", {net.input({1, 24, 5, 6}), ValueId{}, factors}, out,
                      {{"mode", std::string(mode)},
                       {"coordinate_transformation_mode", std::string(transform)},
                       {"nearest_mode", std::string("floor")}}));
  };
  for (const auto& [mode, transform] : {std::pair{"nearest", "asymmetric"}, std::pair{"linear", "half_pixel"}}) {
    Net net;
    scaled(net, {1, 1, 2, 3}, {1, 24, 10, 18}, mode, transform);
    EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"direct.plain", "direct.nhwc"}))) << mode;
  }
  for (const char* transform : {"asymmetric", "align_corners"}) {
    Net other;
    scaled(other, {1, 1, 2, 2.5F}, {1, 24, 10, 15}, "linear", transform);
    EXPECT_FALSE(passed(run_every_variant(other)).empty()) << transform;
  }
  Net aligned;
  scaled(aligned, {1, 1, 2, 2}, {1, 24, 10, 12}, "nearest", "align_corners");
  EXPECT_EQ(refusal_of(aligned).reason, RefusalReason::kAttribute);
}

TEST(OneDnnResize, TakesOddRatiosOnlyWhenTheyAgree) {
  Net net;
  net.output(net.op("Resize", {net.input({1, 16, 7, 5}), ValueId{}, ValueId{}, net.integers({1, 16, 10, 9})},
                    {1, 16, 10, 9}, {{"mode", std::string("linear")}}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"direct.plain", "direct.nhwc", "direct.blocked"})));
}

TEST(OneDnnSoftmax, WorksAlongEveryAxis) {
  for (const std::string type : {"Softmax", "LogSoftmax"})
    for (const std::int64_t axis : {0, 1, 2, -1}) {
      Net net;
      net.output(net.same(type, {net.input({3, 10, 7, 9})}, {{"axis", axis}}));
      EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain")) << type << axis;
    }
}

TEST(OneDnnNormalisation, NormalisesLayers) {
  for (const Extents& scale : {Extents{48}, Extents{7, 48}})
    for (const bool shifts : {false, true}) {
      Net net;
      std::vector<ValueId> inputs = {net.input({2, 7, 48}), net.constant(scale)};
      if (shifts) inputs.push_back(net.constant(scale));
      net.output(net.same("LayerNormalization", inputs, {{"axis", -static_cast<std::int64_t>(scale.size())}}));
      EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain"));
    }
}

TEST(OneDnnNormalisation, NormalisesBatches) {
  for (const std::int64_t channels : {16, 24}) {
    Net net;
    const ValueId y = net.same("BatchNormalization",
                               {net.input({2, channels, 5, 6}), net.constant({channels}), net.constant({channels}),
                                net.constant({channels}), net.constant({channels}, 0.5F, 2.F)});
    net.output(net.same("Relu", {y}));
    EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"direct.plain", "direct.nhwc"})));
  }
}

TEST(OneDnnNormalisation, NormalisesAcrossChannels) {
  Net net;
  net.output(net.same("LRN", {net.input({1, 32, 5, 6})}, {{"size", std::int64_t{5}}, {"alpha", 0.5F}}));
  EXPECT_FALSE(passed(run_every_variant(net)).empty());
}

TEST(OneDnnReduction, MatchesPlainLoops) {
  for (const std::string type :
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"})
    for (const List& axes : {List{2}, List{0, 1}, List{1}}) {
      Net net;
      Extents out = {4, 6, 8};
      for (const std::int64_t axis : axes) out[static_cast<std::size_t>(axis)] = 1;
      net.output(net.op(type, {net.input({4, 6, 8}), net.integers(axes)}, out));
      run_every_variant(net);
    }
}

TEST(OneDnnConversion, ConvertsBothWays) {
  for (const Extents& extents :
       {Extents{1, 3, 5, 7}, Extents{2, 24, 4, 6}, Extents{1, 32, 9}, Extents{1, 17, 2, 3, 4}}) {
    const ValueType type = ValueType::tensor(ElementType::kFloat32, extents);
    SCOPED_TRACE(to_string(type));
    std::vector<float> numbers(static_cast<std::size_t>(element_count(extents)));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
    const std::vector<Format> formats = {plain(), channels_last(), {"onednn:nChw16c"}};
    for (const Format& from : formats)
      for (const Format& to : formats) {
        if (from == to || !format_bytes(onednn(), type, from) || !format_bytes(onednn(), type, to)) continue;
        SCOPED_TRACE(from.name + " -> " + to.name);
        const auto artifact =
            compile_conversion(onednn(), {.type = type, .from = {.format = from}, .to = {.format = to}}, {});
        ASSERT_TRUE(artifact) << artifact.error().detail;
        auto kernel = other_onednn().load({.artifact = *artifact,
                                           .constants = {},
                                           .inputs = {{.name = "in", .type = type, .place = {.format = from}}},
                                           .outputs = {{.name = "out", .type = type, .place = {.format = to}}},
                                           .threads = 1});
        ASSERT_TRUE(kernel) << to_string(kernel.error());
        const std::vector<float> in = to_format(numbers, extents, from);
        const std::size_t bytes = *format_bytes(onednn(), type, to);
        AlignedBytes source(in.size() * sizeof(float));
        std::copy(in.begin(), in.end(), static_cast<float*>(source.data()));
        AlignedBytes target(bytes, 0xff);
        AlignedBytes workspace(artifact->workspace_bytes + 64);
        auto call = (*kernel)->bind({{source.data()}, {target.data()}, workspace.data()});
        ASSERT_TRUE(call);
        ASSERT_TRUE((*call)->run());
        const auto* out = static_cast<const float*>(target.data());
        EXPECT_EQ(from_format({out, out + bytes / sizeof(float)}, extents, to), numbers);
      }
  }
}

}  // namespace
}  // namespace collage::test
