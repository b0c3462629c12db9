// Element-wise operators and chains of them, in every variant offered, against the same formulas in double.
#include <cmath>
#include <functional>
#include <numbers>

#include "host_fixture.h"

namespace collage {
namespace {

using Index = std::vector<std::int64_t>;
constexpr ElementType kF32 = ElementType::kFloat32;

ValueType f32(const Extents& extents) { return ValueType::tensor(kF32, extents); }

/// The element of `tensor` that stands at `index` of a larger shape it is broadcast to.
double broadcast_at(const Tensor& tensor, const Index& index) {
  const std::size_t missing = index.size() - tensor.extents.size();
  std::vector<std::int64_t> own;
  for (std::size_t i = 0; i < tensor.extents.size(); ++i)
    own.push_back(tensor.extents[i] == 1 ? 0 : index[i + missing]);
  const auto position = static_cast<std::size_t>(flat(tensor.extents, own));
  return tensor.type == kF32 ? static_cast<double>(tensor.data.as<float>()[position])
                             : static_cast<double>((*integers_of(tensor))[position]);
}

void expect_near(const Tensor& actual, const Extents& extents, const std::function<double(const Index&)>& formula,
                 double tolerance, const std::string& label) {
  ASSERT_EQ(actual.extents, extents) << label;
  std::size_t i = 0;
  for_each_index(extents, [&](const Index& index) {
    const double expected = formula(index);
    const auto got = static_cast<double>(actual.data.as<float>()[i++]);
    if (std::isnan(expected) && std::isnan(got)) return;
    if (std::isinf(expected) && got == expected) return;
    ASSERT_NEAR(got, expected, tolerance * std::max(1.0, std::abs(expected))) << label << " element " << i - 1;
  });
}

struct UnaryCase {
  std::string op;
  std::function<double(double)> formula;
  std::vector<Attribute> attributes = {};
  float low = -6;
  float high = 6;
  double tolerance = 1e-6;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(HostElementwise, ComputesUnaryOperators) {
  const std::vector<UnaryCase> cases = {
      {"Abs", [](double x) { return std::abs(x); }},
      {"Neg", [](double x) { return -x; }},
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Sigmoid", sigmoid, {}, -100, 100},
      {"Tanh", [](double x) { return std::tanh(x); }, {}, -12, 12},
      {"Exp", [](double x) { return std::exp(x); }, {}, -120, 88},
      {"Log", [](double x) { return std::log(x); }, {}, 1e-3F, 1e6F},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }, {}, 0, 100},
      {"Reciprocal", [](double x) { return 1 / x; }, {}, 0.1F, 100},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }, {}, -30, 30},
      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, {}, -30, 60},
      {"Swish", [](double x) { return x * sigmoid(0.5 * x); }, {{"alpha", 0.5F}}, -30, 30},
      {"HardSwish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"HardSigmoid", [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.125 * x : x; }, {{"alpha", 0.125F}}},
      {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
      {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Celu", [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, {{"alpha", 2.0F}}},
      {"Selu", [](double x) { return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * std::expm1(x) : x); }},
      {"Gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }},
      {"Gelu",
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); },
       {{"approximate", std::string("tanh")}}},
  };
  for (const UnaryCase& c : cases) {
    const Extents extents = {2, 3, 25, 17};
    HostCase under_test;
    const Tensor x = random_floats(extents, 5, c.low, c.high);
    under_test.output(under_test.node(c.op, {under_test.input(x)}, {f32(extents)}, c.attributes)[0]);
    const std::vector<VariantRun> runs = run_all(under_test);
    EXPECT_EQ(runs.size(), 2U) << c.op;
    for (const VariantRun& run : runs)
      expect_near(
          run.outputs[0], extents, [&](const Index& i) { return c.formula(broadcast_at(x, i)); }, c.tolerance,
          c.op + " " + run.variant.name);
  }
}

TEST(HostElementwise, KeepsTheEdgesOfElementaryFunctions) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> edges = {0.0F,  -0.0F,   infinity, -infinity, nan,  1e-40F,
                                    89.0F, -104.0F, 3e38F,    -3e38F,    88.5F};
  for (const auto& [op, formula] : std::vector<std::pair<std::string, std::function<double(double)>>>{
           {"Exp", [](double x) { return static_cast<double>(std::exp(static_cast<float>(x))); }},
           {"Log", [](double x) { return std::log(x); }},
           {"Tanh", [](double x) { return std::tanh(x); }},
           {"Erf", [](double x) { return std::erf(x); }},
           {"Sigmoid", sigmoid},
           {"Relu", [](double x) { return x < 0 ? 0 : x; }}}) {
    HostCase under_test;
    const Tensor x = make_tensor(kF32, {static_cast<std::int64_t>(edges.size())}, edges);
    under_test.output(under_test.node(op, {under_test.input(x)}, {x.value_type()})[0]);
    for (const VariantRun& run : run_all(under_test))
      expect_near(
          run.outputs[0], x.extents, [&](const Index& i) { return formula(broadcast_at(x, i)); }, 1e-6, op);
  }
}

TEST(HostElementwise, BroadcastsEveryWayInBothFormats) {
  const std::vector<std::pair<Extents, Extents>> shapes = {{{2, 3, 4, 5}, {2, 3, 4, 5}},
                                                           {{2, 3, 4, 5}, {3, 1, 1}},
                                                           {{2, 3, 4, 5}, {}},
                                                           {{1, 24, 30, 31}, {1, 24, 1, 1}},
                                                           {{2, 3, 4, 5}, {1, 1, 4, 5}},
                                                           {{2, 3, 4, 5}, {5}},
                                                           {{2, 3, 1, 5}, {1, 3, 4, 1}},
                                                           {{2, 1, 40, 40}, {1, 5, 1, 1}},
                                                           {{3000}, {1}},
                                                           {{7, 1}, {1, 900}},
                                                           {{2, 6000}, {6000}},
                                                           {{1, 70, 6, 6}, {70, 6, 1}}};
  for (const auto& [left, right] : shapes) {
    for (const bool constant : {false, true}) {
      const Tensor a = random_floats(left, 1);
      const Tensor b = random_floats(right, 2);
      Extents out = left.size() >= right.size() ? left : right;
      for (std::size_t i = 0; i < right.size(); ++i) {
        std::int64_t& extent = out[out.size() - right.size() + i];
        extent = std::max(extent, right[i]);
      }
      HostCase under_test;
      const ValueId x = under_test.input(a);
      const ValueId y = constant ? under_test.constant(b) : under_test.input(b);
      under_test.output(under_test.node("Sub", {x, y}, {f32(out)})[0]);
      const std::vector<VariantRun> runs = run_all(under_test);
      EXPECT_EQ(runs.size(), out.size() == 4 ? 2U : 1U);
      for (const VariantRun& run : runs)
        expect_near(
            run.outputs[0], out, [&](const Index& i) { return broadcast_at(a, i) - broadcast_at(b, i); }, 1e-6,
            to_string(f32(left)) + to_string(f32(right)) + run.variant.name);
    }
  }
}

TEST(HostElementwise, FusesChainsWithSeveralOutputsAndReadsEachOperandOnce) {
  // y = sigmoid(x * s) + x;  z = max(y, 0) - b, both needed.
  const Extents extents = {1, 5, 41, 13};
  const Tensor x = random_floats(extents, 1);
  const Tensor s = random_floats({5, 1, 1}, 2);
  const Tensor b = random_floats(extents, 3);
  HostCase under_test;
  const ValueId vx = under_test.input(x);
  const ValueId vb = under_test.input(b);
  const ValueId scaled = under_test.node("Mul", {vx, under_test.constant(s)}, {f32(extents)})[0];
  const ValueId gate = under_test.node("Sigmoid", {scaled}, {f32(extents)})[0];
  const ValueId y = under_test.node("Add", {gate, vx}, {f32(extents)})[0];
  const ValueId positive = under_test.node("Relu", {y}, {f32(extents)})[0];
  const ValueId z = under_test.node("Sub", {positive, vb}, {f32(extents)})[0];
  under_test.output(y);
  under_test.output(z);
  const auto first = [&](const Index& i) {
    return sigmoid(broadcast_at(x, i) * broadcast_at(s, i)) + broadcast_at(x, i);
  };
  const std::vector<VariantRun> runs = run_all(under_test);
  ASSERT_EQ(runs.size(), 2U);
  for (const VariantRun& run : runs) {
    expect_near(run.outputs[0], extents, first, 1e-6, "y");
    expect_near(
        run.outputs[1], extents, [&](const Index& i) { return std::max(first(i), 0.0) - broadcast_at(b, i); }, 1e-6,
        "z");
  }
}

TEST(HostElementwise, WritesInPlaceOnlyOverOperandsThatAreNotReadLater) {
  const Extents extents = {4, 700};
  HostCase under_test;
  const ValueId a = under_test.input(random_floats(extents, 1));
  const ValueId b = under_test.input(random_floats(extents, 2));
  const ValueId row = under_test.input(random_floats({700}, 3));
  const ValueId sum = under_test.node("Add", {a, row}, {f32(extents)})[0];
  const ValueId product = under_test.node("Mul", {sum, b}, {f32(extents)})[0];
  under_test.output(sum);
  under_test.output(product);
  const std::vector<VariantRun> runs = run_all(under_test);
  ASSERT_FALSE(runs.empty());
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  const Region region = whole_region(under_test.graph, uses_of(under_test.graph));
  ASSERT_EQ(region.inputs, (std::vector<ValueId>{a, row, b}));
  // The sum may overwrite `a` but not `b`, which the product reads after it; the product may overwrite either.
  EXPECT_THAT(runs[0].artifact.in_place, testing::UnorderedElementsAre(Pair{0, 0}, Pair{1, 0}, Pair{1, 2}));
}

/// The runner does so where the artifact allows it.
TEST(HostElementwise, GivesTheSameNumbersInPlace) {
  const Extents extents = {3, 1111};
  HostCase under_test;
  const ValueId x = under_test.input(random_floats(extents, 1));
  const ValueId half = under_test.node("Tanh", {x}, {f32(extents)})[0];
  under_test.output(under_test.node("Mul", {half, x}, {f32(extents)})[0]);
  const std::vector<VariantRun> runs = run_all(under_test);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_THAT(runs[0].artifact.in_place, testing::ElementsAre(std::pair<std::uint32_t, std::uint32_t>{0, 0}));
}

TEST(HostElementwise, RefusesChainsThatWouldComputeSmallValuesAgainAndAgain) {
  // A gate per channel times a full tensor: the sigmoid would run once per pixel.
  const Extents extents = {1, 8, 10, 10};
  HostCase under_test;
  const ValueId x = under_test.input(random_floats(extents));
  const ValueId g = under_test.input(random_floats({1, 8, 1, 1}));
  const ValueId gate = under_test.node("Sigmoid", {g}, {f32({1, 8, 1, 1})})[0];
  under_test.output(under_test.node("Mul", {x, gate}, {f32(extents)})[0]);
  const auto refused = host_support(under_test);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, RefusalReason::kStructure);
}

TEST(HostElementwise, ComputesIntegersAndLogic) {
  const std::vector<std::int64_t> a = {7, -7, 7, -7, 0, std::numeric_limits<std::int64_t>::min(), 5};
  const std::vector<std::int64_t> b = {3, 3, -3, -3, 5, -1, 0};
  const auto run = [&](const std::string& op, ElementType out, std::vector<Attribute> attributes = {}) {
    HostCase under_test;
    const ValueId x = under_test.input(make_tensor(ElementType::kInt64, {7}, a));
    const ValueId y = under_test.input(make_tensor(ElementType::kInt64, {7}, b));
    under_test.output(under_test.node(op, {x, y}, {ValueType::tensor(out, {7})}, attributes)[0]);
    return *integers_of(run_all(under_test)[0].outputs[0]);
  };
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(run("Add", ElementType::kInt64), (Index{10, -4, 4, -10, 5, std::numeric_limits<std::int64_t>::max(), 5}));
  EXPECT_EQ(run("Div", ElementType::kInt64), (Index{2, -2, -2, 2, 0, least, 0}));
  EXPECT_EQ(run("Mod", ElementType::kInt64), (Index{1, 2, -2, -1, 0, 0, 0}));
  EXPECT_EQ(run("Mod", ElementType::kInt64, {{"fmod", std::int64_t{1}}}), (Index{1, -1, 1, -1, 0, 0, 0}));
  EXPECT_EQ(run("Max", ElementType::kInt64), (Index{7, 3, 7, -3, 5, -1, 5}));
  EXPECT_EQ(run("Greater", ElementType::kBool), (Index{1, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(run("LessOrEqual", ElementType::kBool), (Index{0, 1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(run("Equal", ElementType::kBool), (Index{0, 0, 0, 0, 0, 0, 0}));
}

TEST(HostElementwise, SelectsWithWhereForEverySizeOfElement) {
  for (const ElementType type :
       {ElementType::kUint8, ElementType::kFloat16, ElementType::kFloat32, ElementType::kInt64}) {
    const std::int64_t bytes = bits_of(type) / 8;
    Tensor a = counting<std::uint8_t>(ElementType::kUint8, {6 * bytes});
    a.type = type;
    a.extents = {2, 3};
    Tensor b = random_tensor<std::uint8_t>(ElementType::kUint8, {6 * bytes}, 9, 100, 200);
    b.type = type;
    b.extents = {2, 3};
    HostCase under_test;
    const ValueId c = under_test.input(make_tensor<std::uint8_t>(ElementType::kBool, {3}, {1, 0, 1}));
    const ValueId x = under_test.input(a);
    const ValueId y = under_test.input(b);
    under_test.output(under_test.node("Where", {c, x, y}, {a.value_type()})[0]);
    const Tensor out = run_all(under_test).at(0).outputs[0];
    for (std::int64_t i = 0; i < 6; ++i) {
      const Tensor& from = i % 3 == 1 ? b : a;
      EXPECT_EQ(std::memcmp(out.data.data() + i * bytes, from.data.data() + i * bytes, static_cast<std::size_t>(bytes)),
                0);
    }
  }
}

TEST(HostElementwise, ClipsWithMissingConstantAndInfiniteBounds) {
  const Tensor x = random_floats({2000}, 4, -10, 10);
  const auto clipped = [&](std::optional<float> low, std::optional<float> high) {
    HostCase under_test;
    std::vector<ValueId> in = {under_test.input(x)};
    in.push_back(low ? under_test.constant(make_tensor<float>(kF32, {}, {*low})) : ValueId{});
    if (high) in.push_back(under_test.constant(make_tensor<float>(kF32, {}, {*high})));
    under_test.output(under_test.node("Clip", in, {x.value_type()})[0]);
    return run_all(under_test).at(0).outputs[0];
  };
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [low, high] : std::vector<std::pair<std::optional<float>, std::optional<float>>>{
           {0.0F, 6.0F}, {std::nullopt, 1.0F}, {-2.0F, std::nullopt}, {-infinity, infinity}}) {
    expect_near(
        clipped(low, high), {2000},
        [&](const Index& i) {
          return std::min(std::max(broadcast_at(x, i), static_cast<double>(low.value_or(-infinity))),
                          static_cast<double>(high.value_or(infinity)));
        },
        0, "Clip");
  }
}

TEST(HostElementwise, TakesCheapWaysForWellKnownPowers) {
  const Tensor x = random_floats({500}, 4, 0.1F, 4);
  for (const float exponent : {2.0F, 3.0F, 0.5F, -0.5F, -1.0F, 1.7F}) {
    HostCase under_test;
    const ValueId p = under_test.constant(make_tensor<float>(kF32, {}, {exponent}));
    under_test.output(under_test.node("Pow", {under_test.input(x), p}, {x.value_type()})[0]);
    expect_near(
        run_all(under_test).at(0).outputs[0], {500},
        [&](const Index& i) { return std::pow(broadcast_at(x, i), static_cast<double>(exponent)); }, 1e-5, "Pow");
  }
}

TEST(HostElementwise, SumsAndAveragesAnyNumberOfInputs) {
  const Tensor a = random_floats({3, 4}, 1);
  const Tensor b = random_floats({4}, 2);
  const Tensor c = random_floats({3, 1}, 3);
  for (const std::string op : {"Sum", "Mean", "Max", "Min"}) {
    HostCase under_test;
    const std::vector<ValueId> in = {under_test.input(a), under_test.input(b), under_test.input(c)};
    under_test.output(under_test.node(op, in, {f32({3, 4})})[0]);
    expect_near(
        run_all(under_test).at(0).outputs[0], {3, 4},
        [&](const Index& i) {
          const double x = broadcast_at(a, i), y = broadcast_at(b, i), z = broadcast_at(c, i);
          if (op == "Sum") return x + y + z;
          if (op == "Mean") return (x + y + z) / 3;
          return op == "Max" ? std::max({x, y, z}) : std::min({x, y, z});
        },
        1e-6, op);
  }
}

template <class From>
Tensor cast(const std::vector<From>& values, ElementType from, ElementType to) {
  HostCase under_test;
  const auto n = static_cast<std::int64_t>(values.size());
  under_test.output(under_test.node("Cast", {under_test.input(make_tensor(from, {n}, values))},
                                    {ValueType::tensor(to, {n})}, {{"to", static_cast<std::int64_t>(to)}})[0]);
  return run_all(under_test).at(0).outputs[0];
}

TEST(HostCast, RoundsSixteenBitFloatsToNearestEven) {
  const std::vector<float> values = {1.0F,     1.0F + 0x1p-11F, 1.0F + 3 * 0x1p-11F, 65504.0F, 65520.0F, -70000.0F,
                                     0x1p-24F, 0x1p-25F,        3 * 0x1p-25F,        0x1p-14F, 0.0F};
  const Tensor half = cast(values, kF32, ElementType::kFloat16);
  const std::vector<std::uint16_t> expected = {0x3c00, 0x3c00, 0x3c02, 0x7bff, 0x7c00, 0xfc00,
                                               0x0001, 0x0000, 0x0002, 0x0400, 0x0000};
  EXPECT_EQ(std::vector<std::uint16_t>(half.data.as<std::uint16_t>().begin(), half.data.as<std::uint16_t>().end()),
            expected);
  // Every finite half survives the way to f32 and back.
  std::vector<std::uint16_t> all;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) all.push_back(static_cast<std::uint16_t>(bits));
  const Tensor wide = cast(all, ElementType::kFloat16, kF32);
  const std::vector<float> floats(wide.data.as<float>().begin(), wide.data.as<float>().end());
  EXPECT_EQ(floats[0x3c00], 1.0F);
  EXPECT_EQ(floats[1], 0x1p-24F);
  const Tensor back = cast(floats, kF32, ElementType::kFloat16);
  EXPECT_EQ(std::vector<std::uint16_t>(back.data.as<std::uint16_t>().begin(), back.data.as<std::uint16_t>().end()),
            all);
  const Tensor brain = cast(std::vector<float>{1.0F, 1.00390625F, 1.01171875F, -3.5F}, kF32, ElementType::kBfloat16);
  EXPECT_EQ(std::vector<std::uint16_t>(brain.data.as<std::uint16_t>().begin(), brain.data.as<std::uint16_t>().end()),
            (std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x3f82, 0xc060}));
}

TEST(HostCast, GivesWhatOnnxRuntimeGivesForFloatsThatDoNotFit) {
  const std::vector<float> odd = {1.9F, -1.9F, 1e20F, -1e20F, std::nanf(""), 300.7F, -300.7F, 3e9F};
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t least32 = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(*integers_of(cast(odd, kF32, ElementType::kInt32)),
            (Index{1, -1, least32, least32, least32, 300, -300, least32}));
  EXPECT_EQ(*integers_of(cast(odd, kF32, ElementType::kInt64)),
            (Index{1, -1, least, least, least, 300, -300, 3'000'000'000}));
  EXPECT_EQ(*integers_of(cast(odd, kF32, ElementType::kInt8)), (Index{1, -1, 0, 0, 0, 44, -44, 0}));
  EXPECT_EQ(*integers_of(cast(odd, kF32, ElementType::kUint8)), (Index{1, 255, 0, 0, 0, 44, 212, 0}));
  EXPECT_EQ(*integers_of(cast(odd, kF32, ElementType::kUint32)),
            (Index{1, 4294967295, 0, 0, 0, 300, 4294966996, 3'000'000'000}));
  const Tensor wide = cast(std::vector<float>{std::nanf(""), 1e30F, -1e30F, -1.9F, 1e19F}, kF32, ElementType::kUint64);
  const auto numbers = wide.data.as<std::uint64_t>();
  EXPECT_EQ(std::vector<std::uint64_t>(numbers.begin(), numbers.end()),
            (std::vector<std::uint64_t>{1ULL << 63U, 0, 1ULL << 63U, ~0ULL, 9999999980506447872ULL}));
}

TEST(HostCast, TruncatesFloatsAndMapsTruth) {
  EXPECT_EQ(*integers_of(cast(std::vector<float>{1.9F, -1.9F}, kF32, ElementType::kInt32)), (Index{1, -1}));
  EXPECT_EQ(*integers_of(cast(std::vector<float>{0.0F, 0.5F, -2.0F}, kF32, ElementType::kBool)), (Index{0, 1, 1}));
  EXPECT_EQ(*integers_of(cast(std::vector<std::int64_t>{300, -1}, ElementType::kInt64, ElementType::kUint8)),
            (Index{44, 255}));
  EXPECT_EQ(*floats_of(cast(std::vector<std::uint8_t>{0, 1}, ElementType::kBool, ElementType::kFloat64)),
            (std::vector<double>{0, 1}));
}

/// A program for inputs c: bool[4] and x: f32[4], outputs y: f32[4] or bool[4], as a plan file of others may hold it.
std::string load_code(const std::string& operands, const std::string& instructions, ElementType result) {
  const ValueType value = f32({1, 4, 3, 3});
  const std::string compatibility =
      compile_conversion(host_backend(), {.type = value, .to = {.format = channels_last()}}, {})->compatibility;
  const Artifact artifact{.bytes = R"({"family":"elementwise","program":{"count":4,"operands":[)" + operands +
                                   R"(],"instructions":[)" + instructions + R"(],"outputs":[2]}})",
                          .compatibility = compatibility};
  const LoadRequest request{.artifact = artifact,
                            .constants = {},
                            .inputs = {{"c", ValueType::tensor(ElementType::kBool, {4})}, {"x", f32({4})}},
                            .outputs = {{"y", ValueType::tensor(result, {4})}}};
  const auto kernel = host_backend().load(request);
  return kernel ? "" : kernel.error().code;
}

TEST(HostElementArtifact, IsRefusedWhenALoopWouldReadOrWriteAnotherType) {
  const std::string c = R"({"source":0,"type":9,"run":1,"period":4,"axes":[]})";
  const std::string x = R"({"source":1,"type":1,"run":1,"period":4,"axes":[]})";
  const auto instruction = [](const std::string& operation, int from, int to, const std::string& in) {
    return R"({"operation":")" + operation + R"(","from":)" + std::to_string(from) + R"(,"to":)" + std::to_string(to) +
           R"(,"in":)" + in + R"(,"params":[]})";
  };
  const std::string both = c + "," + x;
  EXPECT_EQ(load_code(both, instruction("Where", 9, 1, "[0,1,1]"), kF32), "");
  EXPECT_EQ(load_code(both, instruction("Less", 1, 9, "[1,1]"), ElementType::kBool), "");
  for (const std::string& wrong :
       {instruction("Where", 9, 1, "[0,0,1]"), instruction("Where", 9, 1, "[1,1,1]"),
        instruction("Where", 9, 1, "[0,1]"), instruction("Where", 1, 1, "[0,1,2]"), instruction("Add", 1, 1, "[0,1]"),
        instruction("Less", 1, 1, "[1,1]"), instruction("Add", 9, 1, "[0,0]")})
    EXPECT_EQ(load_code(both, wrong, kF32), "backend/bad-artifact") << wrong;
  for (const std::string& wrong : {instruction("Add", 1, 9, "[1,1]"), instruction("Where", 9, 1, "[0,1,1]")})
    EXPECT_EQ(load_code(both, wrong, ElementType::kBool), "backend/bad-artifact") << wrong;
  const std::string far = R"({"source":1,"type":1,"run":1,"period":1,"axes":[[2,9223372036854775807],[2,1]]})";
  EXPECT_EQ(load_code(c + "," + far, instruction("Relu", 1, 1, "[1]"), kF32), "backend/bad-artifact");
}

}  // namespace
}  // namespace collage
