// Element-wise chains, poolings and what else works in every layout.
#include <gmock/gmock.h>

#include "harness.h"

namespace collage::test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;

const std::vector<Extents> kShapes = {{1, 32, 7, 9}, {2, 24, 5, 6},    {1, 3, 8, 8}, {1, 17, 3, 5}, {2, 16, 11},
                                      {3, 5},        {1, 16, 2, 3, 4}, {7},          {1, 48, 1, 1}};

class OneDnnActivation : public testing::TestWithParam<std::string> {};

TEST_P(OneDnnActivation, MatchesPlainLoopsInEveryLayout) {
  for (const Extents& shape : kShapes) {
    SCOPED_TRACE(to_string(ValueType::tensor(ElementType::kFloat32, shape)));
    Net net;
    net.output(net.same(GetParam(), {net.input(shape)}));
    EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain"));
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, OneDnnActivation,
                         testing::Values("Relu", "LeakyRelu", "Elu", "Selu", "Celu", "Sigmoid", "HardSigmoid",
                                         "HardSwish", "Swish", "Tanh", "Exp", "Abs", "Neg", "Softplus", "Mish", "Gelu",
                                         "Round"),
                         [](const auto& param) { return param.param; });

TEST(OneDnnElementwise, TakesPositiveDomains) {
  for (const std::string op : {"Log", "Sqrt", "Reciprocal"}) {
    Net net;
    net.output(net.same(op, {net.same("Add", {net.same("Abs", {net.input({1, 24, 5, 7})}), net.scalar(0.5F)})}));
    EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc"})) << op;
  }
}

TEST(OneDnnElementwise, TakesPowersByAConstant) {
  for (const float exponent : {2.F, 0.5F, 3.F, -1.F}) {
    Net net;
    const ValueId x = net.same("Add", {net.same("Abs", {net.input({2, 9})}), net.scalar(0.5F)});
    net.output(net.same("Pow", {x, net.scalar(exponent)}));
    EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain")) << exponent;
  }
}

TEST(OneDnnElementwise, ClipsAtEitherBound) {
  Net net;
  const ValueId x = net.same("Clip", {net.input({3, 9}), ValueId{}, net.scalar(0.25F)});
  net.output(net.same("Clip", {x, net.scalar(-0.5F)}));
  EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain"));
}

TEST(OneDnnElementwise, KeepsTheNumbersOfRepeatedActivations) {
  for (const Extents& shape : {Extents{3, 9}, Extents{1, 32, 5, 6}}) {
    Net net;
    ValueId x = net.same("LeakyRelu", {net.input(shape)}, {{"alpha", 0.5F}});
    x = net.same("Add", {x, net.scalar(-0.25F)});
    x = net.same("LeakyRelu", {x}, {{"alpha", 0.125F}});
    net.output(net.same("Mul", {net.same("Sub", {x, net.scalar(0.125F)}), net.input(shape)}));
    EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain"));
  }
}

struct Pair {
  Extents a, b;
  bool constant;
};

TEST(OneDnnElementwise, BroadcastsOperands) {
  const std::vector<Pair> pairs = {{{1, 32, 7, 9}, {1, 32, 7, 9}, false},
                                   {{1, 24, 5, 6}, {1, 24, 5, 6}, false},
                                   {{2, 16, 5, 6}, {2, 16, 1, 1}, false},
                                   {{1, 24, 5, 6}, {1, 24, 1, 1}, false},
                                   {{1, 32, 5, 6}, {1, 32, 1, 1}, true},
                                   {{1, 24, 5, 6}, {24, 1, 1}, true},
                                   {{1, 16, 5, 6}, {1, 1, 5, 6}, false},
                                   {{1, 16, 5, 6}, {16, 5, 6}, true},
                                   {{2, 10, 12}, {12}, false},
                                   {{2, 10, 12}, {2, 10, 1}, false},
                                   {{2, 10, 12}, {10, 12}, true},
                                   {{4, 6}, {4, 1}, false},
                                   {{5, 7}, {1, 7}, true},
                                   {{2, 3, 4, 5}, {2, 1, 4, 1}, false},
                                   {{1, 12, 64, 64}, {1, 1, 1, 64}, false}};
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
    for (const Pair& pair : pairs) {
      SCOPED_TRACE(op + to_string(ValueType::tensor(ElementType::kFloat32, pair.b)));
      Net net;
      const ValueId a = net.input(pair.a);
      const ValueId b = pair.constant ? net.constant(pair.b, 0.5F, 2.F) : net.input(pair.b);
      if (op == "Div" && !pair.constant) continue;
      net.output(net.same(op, {a, b}));
      EXPECT_FALSE(run_every_variant(net).empty());
    }
}

TEST(OneDnnElementwise, TakesTheFullOperandOnTheRight) {
  for (const std::string op : {"Add", "Sub", "Mul"}) {
    Net net;
    const ValueId b = net.input({1, 16, 1, 1});
    const ValueId a = net.input({1, 16, 6, 5});
    net.output(net.op(op, {b, a}, {1, 16, 6, 5}));
    EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"})) << op;
  }
}

TEST(OneDnnElementwise, RunsChainsInOnePass) {
  for (const Extents& shape : kShapes) {
    SCOPED_TRACE(to_string(ValueType::tensor(ElementType::kFloat32, shape)));
    Net net;
    ValueId y = net.same("Add", {net.input(shape), net.input(shape)});
    y = net.same("Relu", {y});
    y = net.same("Mul", {y, net.input(shape)});
    y = net.same("Sigmoid", {net.same("Sub", {y, net.scalar(0.5F)})});
    net.output(y);
    EXPECT_THAT(passed(run_every_variant(net)), Contains("direct.plain"));
  }
}

TEST(OneDnnElementwise, ReadsAnInputTwice) {
  Net net;
  const ValueId x = net.input({1, 16, 6, 5});
  net.output(net.same("Add", {net.same("Relu", {x}), x}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"}));
}

TEST(OneDnnElementwise, RecognisesAnActivationAtTheStart) {
  Net net;
  const ValueId x = net.input({1, 24, 6, 5});
  net.output(net.same("Add", {net.same("Mul", {x, net.same("Sigmoid", {x})}), net.input({1, 24, 6, 5})}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc"}));
}

TEST(OneDnnElementwise, SumsMany) {
  Net net;
  const Extents shape = {1, 24, 6, 5};
  net.output(net.same("Sum", {net.input(shape), net.input(shape), net.input(shape), net.input({1, 24, 1, 1})}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc"}));
}

TEST(OneDnnElementwise, RefusesWhatEnlargesBothOperands) {
  Net net;
  net.output(net.op("Add", {net.input({4, 1}), net.input({1, 5})}, {4, 5}));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kShape);
}

TEST(OneDnnElementwise, RefusesOtherTypes) {
  Net net;
  net.output(net.same("Relu", {net.input({4, 4})}));
  for (Value& value : net.graph.values) value.type.element = ElementType::kFloat16;
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kType);
}

TEST(OneDnnElementwise, RefusesUnknownOperators) {
  Net net;
  net.output(net.same("Erf", {net.input({4, 4})}));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kOperator);
}

TEST(OneDnnElementwise, RefusesOpenShapes) {
  Net net;
  net.output(net.same("Relu", {net.input({4, 4})}));
  (*net.graph.values[0].type.shape)[0] = Dim{.extent = -1, .symbol = "N"};
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kShape);
}

struct Pool {
  Extents in;
  std::int64_t kernel;
  WindowAttributes window;
};

TEST(OneDnnPooling, MatchesPlainLoops) {
  const std::vector<Pool> pools = {{{1, 32, 9, 9}, 3, {.stride = 2, .pad = 1}},
                                   {{1, 24, 8, 8}, 2, {.stride = 2}},
                                   {{2, 17, 7, 9}, 3, {.pad = 1}},
                                   {{1, 16, 13, 13}, 5, {.pad = 2}},
                                   {{1, 16, 20}, 3, {.stride = 2}},
                                   {{1, 16, 4, 5, 6}, 2, {}},
                                   {{1, 3, 7, 7}, 7, {}}};
  for (const std::string type : {"MaxPool", "AveragePool"})
    for (const Pool& pool : pools) {
      SCOPED_TRACE(type + to_string(ValueType::tensor(ElementType::kFloat32, pool.in)));
      Net net;
      net.output(net.pool(type, net.input(pool.in), pool.kernel, pool.window));
      EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc"}));
    }
}

TEST(OneDnnPooling, CountsPaddingWhenAsked) {
  Net net;
  net.output(net.pool("AveragePool", net.input({1, 32, 9, 9}), 3, {.stride = 2, .pad = 1},
                      {{"count_include_pad", std::int64_t{1}}}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"}));
}

TEST(OneDnnPooling, RoundsUpWhenAsked) {
  using List = std::vector<std::int64_t>;
  for (const std::string type : {"MaxPool", "AveragePool"}) {
    Net net;
    net.output(net.op(type, {net.input({1, 32, 8, 8})}, {1, 32, 4, 4},
                      {{"kernel_shape", List{3, 3}}, {"strides", List{2, 2}}, {"ceil_mode", std::int64_t{1}}}));
    EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"}));
  }
}

TEST(OneDnnPooling, TakesGlobalForms) {
  for (const std::string type : {"GlobalMaxPool", "GlobalAveragePool"})
    for (const Extents& in : {Extents{1, 32, 7, 7}, Extents{2, 24, 5, 9}, Extents{1, 17, 6}}) {
      Net net;
      Extents out(in.size(), 1);
      out[0] = in[0];
      out[1] = in[1];
      net.output(net.op(type, {net.input(in)}, out));
      EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"}));
    }
}

TEST(OneDnnPooling, TakesReductionsOverAllPixels) {
  for (const std::string type : {"ReduceMean", "ReduceMax", "ReduceSum"})
    for (const std::int64_t keep : {0, 1}) {
      Net net;
      const Extents out = keep ? Extents{1, 24, 1, 1} : Extents{1, 24};
      net.output(net.op(type, {net.input({1, 24, 7, 5}), net.integers({-1, 2})}, out, {{"keepdims", keep}}));
      EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"}));
    }
}

TEST(OneDnnPooling, FusesWhatFollows) {
  Net net;
  const ValueId y = net.pool("AveragePool", net.input({1, 32, 9, 9}), 3, {.pad = 1});
  net.output(net.same("Relu", {net.same("Add", {y, net.input({1, 32, 9, 9})})}));
  EXPECT_THAT(passed(run_every_variant(net)), IsSupersetOf({"direct.plain", "direct.nhwc", "direct.blocked"}));
}

TEST(OneDnnPooling, RefusesDilation) {
  Net net;
  net.output(
      net.pool("MaxPool", net.input({1, 8, 9, 9}), 3, {.pad = 1}, {{"dilations", std::vector<std::int64_t>{2, 2}}}));
  EXPECT_EQ(refusal_of(net).reason, RefusalReason::kAttribute);
}

}  // namespace
}  // namespace collage::test
