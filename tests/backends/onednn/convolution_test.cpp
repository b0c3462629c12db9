// Convolutions in every layout and implementation, with what is fused after them.
#include <gmock/gmock.h>

#include "harness.h"

namespace collage::test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

struct Shape {
  const char* name;
  Extents in;
  std::int64_t channels;
  std::int64_t kernel;
  WindowAttributes window;
  std::set<std::string> variants;  ///< at least these must run
};

class OneDnnConvolution : public testing::TestWithParam<Shape> {};

TEST_P(OneDnnConvolution, MatchesPlainLoopsInEveryVariant) {
  const Shape& shape = GetParam();
  Net net;
  net.output(net.conv(net.input(shape.in), shape.channels, shape.kernel, shape.window));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here(shape.variants)));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OneDnnConvolution,
    testing::Values(
        Shape{"few_channels", {1, 3, 17, 19}, 16, 3, {.stride = 2, .pad = 1}, {"gemm.plain", "jit.plain-blocked"}},
        Shape{"one_channel", {2, 1, 9, 8}, 24, 5, {.pad = 2}, {"gemm.plain", "jit.plain-blocked"}},
        Shape{"square", {1, 32, 14, 14}, 32, 3, {.pad = 1}, {"gemm.plain", "jit.nhwc", "jit.blocked"}},
        Shape{"odd_channels", {1, 24, 13, 11}, 40, 3, {.pad = 1}, {"gemm.plain", "jit.nhwc"}},
        Shape{"seventeen", {1, 17, 7, 9}, 17, 3, {.pad = 1}, {"gemm.plain"}},
        Shape{"seven", {1, 7, 7, 9}, 5, 3, {.pad = 1}, {"gemm.plain"}},
        Shape{"pointwise", {1, 48, 10, 12}, 24, 1, {}, {"gemm.plain", "jit_1x1.nhwc", "jit_1x1.blocked"}},
        Shape{"pointwise_strided", {1, 32, 11, 11}, 64, 1, {.stride = 2}, {"gemm.plain", "brgconv_1x1.nhwc"}},
        Shape{"one_pixel", {1, 48, 1, 1}, 20, 1, {}, {"gemm.plain", "ip_gemm.plain"}},
        Shape{"one_pixel_batch", {3, 32, 1, 1}, 64, 1, {}, {"gemm.plain", "ip_gemm.plain"}},
        Shape{"dilated", {1, 16, 15, 15}, 32, 3, {.pad = 2, .dilation = 2}, {"gemm.plain", "jit.nhwc", "jit.blocked"}},
        Shape{"depthwise", {1, 32, 12, 12}, 32, 3, {.pad = 1, .group = 32}, {"jit_dw.nhwc", "jit_dw.blocked"}},
        Shape{"depthwise_odd", {1, 24, 12, 9}, 24, 5, {.stride = 2, .pad = 2, .group = 24}, {"gemm.plain"}},
        Shape{"grouped", {1, 64, 9, 9}, 64, 3, {.pad = 1, .group = 4}, {"gemm.plain", "jit.nhwc", "jit.blocked"}},
        Shape{"grouped_small", {1, 24, 9, 9}, 24, 3, {.pad = 1, .group = 6}, {"gemm.plain"}},
        Shape{"grouped_by_four", {1, 64, 9, 8}, 64, 3, {.pad = 1, .group = 16}, {"merged_jit.blocked"}},
        Shape{"grouped_by_eight", {1, 32, 9, 8}, 32, 3, {.stride = 2, .pad = 1, .group = 4}, {"merged_jit.blocked"}},
        Shape{"batch", {3, 16, 8, 8}, 48, 3, {.pad = 1, .bias = false}, {"gemm.plain", "jit.nhwc", "jit.blocked"}},
        Shape{"one_axis", {1, 32, 50}, 48, 3, {.pad = 1}, {"gemm.plain", "jit.nhwc", "jit.blocked"}},
        Shape{"three_axes", {1, 16, 6, 7, 8}, 16, 3, {.pad = 1}, {"gemm.plain", "jit.nhwc", "jit.blocked"}}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(OneDnnConvolution, TakesWinogradButNotInStrict) {
  Net net;
  net.output(net.conv(net.input({1, 64, 28, 28}), 64, 3, {.pad = 1}));
  const auto standard = passed(run_every_variant(net));
  EXPECT_THAT(standard, IsSupersetOf(here({"wino_2x3.blocked", "wino_4x3.blocked"})));
  for (const std::string& name : passed(run_every_variant(net, Accuracy::kStrict)))
    EXPECT_FALSE(name.starts_with("wino")) << name;
}

TEST(OneDnnConvolution, ResolvesSamePadding) {
  for (const std::string mode : {"SAME_UPPER", "SAME_LOWER"}) {
    Net net;
    const ValueId x = net.input({1, 16, 12, 13});
    net.output(net.op("Conv", {x, net.constant({16, 16, 4, 4})}, {1, 16, 6, 7},
                      {{"auto_pad", mode}, {"strides", std::vector<std::int64_t>{2, 2}}}));
    EXPECT_THAT(passed(run_every_variant(net)), Contains("gemm.plain")) << mode;
  }
}

TEST(OneDnnConvolution, TakesUnevenPadding) {
  Net net;
  const ValueId x = net.input({1, 16, 9, 9});
  net.output(net.op("Conv", {x, net.constant({32, 16, 3, 3})}, {1, 32, 4, 4},
                    {{"pads", std::vector<std::int64_t>{0, 0, 1, 1}}, {"strides", std::vector<std::int64_t>{2, 2}}}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"gemm.plain", "jit.nhwc", "jit.blocked"})));
}

TEST(OneDnnConvolution, FoldsPadding) {
  Net net;
  const ValueId x = net.input({1, 16, 8, 8});
  const ValueId padded = net.op("Pad", {x, net.integers({0, 0, 1, 2, 0, 0, 2, 1})}, {1, 16, 11, 11});
  net.output(net.conv(padded, 32, 3, {.stride = 2}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"gemm.plain", "jit.nhwc", "jit.blocked"})));
}

struct Tail {
  const char* name;
  std::function<ValueId(Net&, ValueId)> add;
};

class OneDnnFusion : public testing::TestWithParam<Tail> {};

TEST_P(OneDnnFusion, MatchesPlainLoopsAfterConvolutions) {
  Net net;
  net.output(GetParam().add(net, net.conv(net.input({1, 32, 9, 10}), 32, 3, {.pad = 1})));
  EXPECT_THAT(passed(run_every_variant(net)),
              IsSupersetOf(here({"brgconv.nhwc", "jit.nhwc", "jit.blocked", "wino_2x3.blocked"})));
}

TEST_P(OneDnnFusion, MatchesPlainLoopsWhenChannelsDoNotFillBlocks) {
  Net net;
  net.output(GetParam().add(net, net.conv(net.input({1, 24, 9, 10}), 40, 3, {.pad = 1})));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"brgconv.nhwc", "jit.nhwc"})));
}

TEST_P(OneDnnFusion, MatchesPlainLoopsAfterDepthwise) {
  Net net;
  net.output(GetParam().add(net, net.conv(net.input({1, 24, 9, 10}), 24, 3, {.pad = 1, .group = 24})));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"jit_dw.nhwc", "jit_dw.blocked"})));
}

TEST(OneDnnMatrixProducts, EndWithWhatTheyDoFast) {
  const auto ways_with = [](const std::function<ValueId(Net&, ValueId)>& tail) {
    Net net;
    net.output(tail(net, net.conv(net.input({1, 24, 9, 10}), 24, 3, {.pad = 1})));
    return passed(run_every_variant(net));
  };
  EXPECT_THAT(ways_with([](Net& n, ValueId y) { return n.same("Relu", {y}); }), Contains("gemm.plain"));
  EXPECT_THAT(ways_with([](Net& n, ValueId y) { return n.same("Sigmoid", {y}); }), Not(Contains("gemm.plain")));
  const auto with_residual = ways_with([](Net& n, ValueId y) { return n.same("Add", {y, n.input({1, 24, 9, 10})}); });
  EXPECT_THAT(with_residual, Contains("gemm.plain+sum"));
  EXPECT_THAT(with_residual, Not(Contains("gemm.plain")));
}

INSTANTIATE_TEST_SUITE_P(
    Tails, OneDnnFusion,
    testing::Values(Tail{"relu", [](Net& n, ValueId y) { return n.same("Relu", {y}); }},
                    Tail{"clip",
                         [](Net& n, ValueId y) {
                           return n.same("Clip", {y, n.scalar(0), n.scalar(0.5F)});
                         }},
                    Tail{"leaky",
                         [](Net& n, ValueId y) {
                           return n.same("LeakyRelu", {y}, {{"alpha", 0.1F}});
                         }},
                    Tail{"hard_sigmoid", [](Net& n, ValueId y) { return n.same("HardSigmoid", {y}); }},
                    Tail{"hard_swish", [](Net& n, ValueId y) { return n.same("HardSwish", {y}); }},
                    Tail{"gelu", [](Net& n, ValueId y) { return n.same("Gelu", {y}); }},
                    Tail{"prelu",
                         [](Net& n, ValueId y) {
                           return n.same("PRelu", {y, n.constant({n.extents(y)[1], 1, 1})});
                         }},
                    Tail{"silu",
                         [](Net& n, ValueId y) {
                           return n.same("Mul", {y, n.same("Sigmoid", {y})});
                         }},
                    Tail{
                        "hard_swish_by_parts",
                        [](Net& n, ValueId y) {
                          return n.same("Mul", {n.same("HardSigmoid", {y}, {{"alpha", 1.F / 6.F}, {"beta", 0.5F}}), y});
                        }},
                    Tail{"mish",
                         [](Net& n, ValueId y) {
                           return n.same("Mul", {y, n.same("Tanh", {n.same("Softplus", {y})})});
                         }},
                    Tail{"scale_and_shift",
                         [](Net& n, ValueId y) {
                           const std::int64_t c = n.extents(y)[1];
                           return n.same("Add", {n.same("Mul", {y, n.constant({1, c, 1, 1})}), n.constant({c, 1, 1})});
                         }},
                    Tail{"two_clips",
                         [](Net& n, ValueId y) {
                           y = n.same("Clip", {y, n.scalar(-1), n.scalar(1)});
                           y = n.same("Add", {n.same("Mul", {y, n.scalar(2)}), n.scalar(0.25F)});
                           return n.same("Clip", {y, n.scalar(-0.5F), n.scalar(0.75F)});
                         }},
                    Tail{"full_constant",
                         [](Net& n, ValueId y) {
                           return n.same("Add", {y, n.constant(n.extents(y))});
                         }},
                    Tail{"residual",
                         [](Net& n, ValueId y) {
                           return n.same("Relu", {n.same("Add", {n.input(n.extents(y)), y})}, {});
                         }},
                    Tail{"residual_after_activation",
                         [](Net& n, ValueId y) {
                           return n.same("Add", {n.same("HardSwish", {y}), n.input(n.extents(y))});
                         }},
                    Tail{"gate",
                         [](Net& n, ValueId y) {
                           return n.same("Mul", {y, n.input({1, n.extents(y)[1], 1, 1})});
                         }},
                    Tail{"subtracted_from",
                         [](Net& n, ValueId y) {
                           return n.op("Sub", {n.scalar(1), y}, n.extents(y));
                         }}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(OneDnnConvolution, BroadcastsOverChannelsAfterwards) {
  Net net;
  const ValueId y = net.conv(net.input({1, 32, 9, 10}), 32, 3, {.pad = 1});
  net.output(net.same("Mul", {y, net.input({1, 1, 9, 10})}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"brgconv.nhwc", "jit.nhwc"})));
}

TEST(OneDnnConvolution, AddsResidualsInPlace) {
  Net net;
  const ValueId y = net.conv(net.input({1, 32, 14, 14}), 32, 3, {.pad = 1});
  net.output(net.same("Relu", {net.same("Add", {y, net.input({1, 32, 14, 14})})}));
  EXPECT_THAT(passed(run_every_variant(net)),
              IsSupersetOf(here({"brgconv.nhwc+sum", "jit.nhwc+sum", "jit.blocked+sum", "wino_2x3.blocked+sum"})));
}

TEST(OneDnnConvolution, KeepsItsSourceWhenItIsTheResidual) {
  Net net;
  const ValueId x = net.input({1, 32, 14, 14});
  net.output(net.same("Add", {x, net.conv(x, 32, 3, {.pad = 1})}));
  for (const auto& name : passed(run_every_variant(net))) EXPECT_FALSE(name.ends_with("+sum")) << name;
}

TEST(OneDnnConvolution, TakesAConstantAsBias) {
  Net net;
  const ValueId y = net.conv(net.input({1, 16, 9, 9}), 32, 3, {.pad = 1, .bias = false});
  net.output(net.same("Relu", {net.same("Add", {y, net.constant({1, 32, 1, 1})})}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"brgconv.nhwc", "jit.blocked", "gemm.plain"})));
}

TEST(OneDnnConvolution, FusesADepthwiseConvolutionAfterAPointwiseOne) {
  // The library fuses what its second cache does not hold between the two, and that is 2 MiB on large processors.
  Net net;
  ValueId y = net.conv(net.input({1, 8, 112, 112}), 96, 1);
  y = net.same("Clip", {y, net.scalar(0), net.scalar(6)});
  y = net.conv(y, 96, 3, {.stride = 2, .pad = 1, .group = 96});
  net.output(net.same("Clip", {y, net.scalar(0), net.scalar(6)}));
  EXPECT_THAT(passed(run_every_variant(net)), Contains("jit_1x1.blocked"));
}

struct Transposed {
  const char* name;
  Extents in;
  std::int64_t channels, kernel, stride, pad, group, output_padding;
};

class OneDnnDeconvolution : public testing::TestWithParam<Transposed> {};

TEST_P(OneDnnDeconvolution, MatchesPlainLoops) {
  const Transposed& t = GetParam();
  Net net;
  const std::size_t rank = t.in.size() - 2;
  Extents weights = {t.in[1], t.channels / t.group};
  Extents out = {t.in[0], t.channels};
  for (std::size_t a = 0; a < rank; ++a) {
    weights.push_back(t.kernel);
    out.push_back((t.in[a + 2] - 1) * t.stride + t.kernel - 2 * t.pad + t.output_padding);
  }
  using List = std::vector<std::int64_t>;
  const ValueId y = net.op("ConvTranspose", {net.input(t.in), net.constant(weights), net.constant({t.channels})}, out,
                           {{"strides", List(rank, t.stride)},
                            {"pads", List(2 * rank, t.pad)},
                            {"group", t.group},
                            {"output_padding", List(rank, t.output_padding)}});
  net.output(net.same("Relu", {y}));
  EXPECT_FALSE(passed(run_every_variant(net)).empty());
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneDnnDeconvolution,
                         testing::Values(Transposed{"doubling", {1, 32, 7, 9}, 16, 2, 2, 0, 1, 0},
                                         Transposed{"overlapping", {1, 16, 8, 8}, 32, 4, 2, 1, 1, 0},
                                         Transposed{"odd", {1, 24, 6, 5}, 7, 3, 2, 1, 1, 1},
                                         Transposed{"to_one_channel", {1, 16, 8, 9}, 1, 4, 2, 1, 1, 0},
                                         Transposed{"grouped", {1, 32, 6, 6}, 32, 3, 2, 1, 2, 1},
                                         Transposed{"one_axis", {1, 16, 20}, 16, 4, 2, 1, 1, 0}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(OneDnnDeconvolution, MakesBlocksOfPixelsByProducts) {
  using List = std::vector<std::int64_t>;
  for (const std::int64_t batch : {1, 2})
    for (const std::int64_t channels : {1, 24}) {
      Net net;
      const ValueId x = net.input({batch, 16, 70, 33});
      const ValueId y = net.op("ConvTranspose", {x, net.constant({16, channels, 2, 3}), net.constant({channels})},
                               {batch, channels, 140, 99}, {{"strides", List{2, 3}}, {"kernel_shape", List{2, 3}}});
      net.output(net.same("Sigmoid", {y}));
      EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"blocks_brgconv_1x1.nhwc", "blocks_jit.nhwc"})));
    }
}

TEST(OneDnnSeries, RunsAnInvertedBottleneckInStrips) {
  for (const std::int64_t stride : {1, 2}) {
    Net net;
    const ValueId x = net.input({1, 8, 150, 150});
    ValueId y = net.conv(x, 40, 1);
    y = net.same("Clip", {y, net.scalar(0), net.scalar(6)});
    y = net.conv(y, 40, 5, {.stride = stride, .pad = 2, .group = 40});
    y = net.conv(net.same("Mul", {y, net.same("Sigmoid", {y})}), 8, 1);
    if (stride == 1) y = net.same("Add", {y, x});
    net.output(y);
    EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf(here({"strips_brgconv.nhwc", "strips_jit.nhwc"})));
  }
}

TEST(OneDnnSeries, OffersNoStripsForWhatStaysInACache) {
  Net net;
  ValueId y = net.same("Relu", {net.conv(net.input({1, 16, 14, 14}), 96, 1)});
  y = net.conv(y, 96, 3, {.pad = 1, .group = 96});
  net.output(net.conv(y, 16, 1));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kStructure);
}

TEST(OneDnnJoin, WritesPartsOfAFireModuleInPlace) {
  Net net;
  const ValueId x = net.same("Relu", {net.conv(net.input({1, 64, 13, 11}), 16, 1)});
  const ValueId left = net.same("Relu", {net.conv(x, 64, 1)});
  const ValueId right = net.same("Relu", {net.conv(x, 48, 3, {.pad = 1})});
  net.output(net.op("Concat", {left, right}, {1, 112, 13, 11}, {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(passed(run_every_variant(net)),
              IsSupersetOf(here({"jit.blocked", "wino_2x3.blocked", "wino_4x3.blocked"})));
  for (const std::string& name : passed(run_every_variant(net, Accuracy::kStrict)))
    EXPECT_FALSE(name.starts_with("wino")) << name;
}

TEST(OneDnnJoin, CopiesPartsFromOutside) {
  Net net;
  const ValueId x = net.input({1, 32, 9, 10});
  const ValueId y = net.conv(x, 32, 3, {.pad = 1, .group = 32});
  const ValueId activated = net.same("Mul", {y, net.same("Sigmoid", {y})});
  net.output(net.op("Concat", {net.input({1, 16, 9, 10}), activated, x}, {1, 80, 9, 10}, {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(passed(run_every_variant(net)), Contains("jit.blocked"));
}

TEST(OneDnnJoin, RefusesAPartThatIsReadTwice) {
  Net net;
  const ValueId x = net.conv(net.input({1, 32, 9, 10}), 32, 1);
  const ValueId y = net.conv(x, 32, 1);
  net.output(net.op("Concat", {x, y}, {1, 64, 9, 10}, {{"axis", std::int64_t{1}}}));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kStructure);
}

TEST(OneDnnConvolution, RefusesComputedWeights) {
  Net net;
  const ValueId x = net.input({1, 4, 5, 5});
  net.output(net.op("Conv", {x, net.input({4, 4, 1, 1})}, {1, 4, 5, 5}));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kStructure);
}

TEST(OneDnnConvolution, RefusesAnInnerValueThatIsNeededOutside) {
  Net net;
  const ValueId y = net.conv(net.input({1, 4, 5, 5}), 4, 3);
  net.output(net.same("Relu", {y}));
  net.output(y);
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kStructure);
}

TEST(OneDnnConvolution, RefusesPaddingByOtherThanZeros) {
  Net net;
  const ValueId x = net.input({1, 4, 5, 5});
  const ValueId padded = net.op("Pad", {x, net.integers({0, 0, 1, 1, 0, 0, 1, 1}), net.scalar(1)}, {1, 4, 7, 7});
  net.output(net.conv(padded, 4, 3));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kAttribute);
}

}  // namespace
}  // namespace collage::test
