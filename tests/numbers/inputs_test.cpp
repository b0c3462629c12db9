#include "numbers/inputs.h"

#include <algorithm>
#include <numeric>

#include "tests/measure/measure_fixture.h"

namespace collage {
namespace {

ValueType i64_type(const Extents& extents) { return ValueType::tensor(ElementType::kInt64, extents); }

/// ids [4, 7] -> `op`s -> Gather(table [11, 3], axis 0)
Graph gather_graph(const std::vector<std::string>& on_the_way) {
  Graph graph = test::empty_graph();
  const ValueId table = add_constant(graph, "table", test::numbers({11, 3}, 1));
  ValueId ids = add_value(graph, "ids", i64_type({4, 7}));
  graph.inputs = {ids};
  for (const std::string& op : on_the_way) ids = test::add_op(graph, op, {ids}, "after_" + op);
  const ValueId rows = add_value(graph, "rows", test::f32_type({4, 7, 3}));
  add_node(graph, {.name = "gather",
                   .domain = "",
                   .op_type = "Gather",
                   .inputs = {table, ids},
                   .outputs = {rows},
                   .captures = {},
                   .attributes = {}});
  graph.outputs = {rows};
  return graph;
}

TEST(Inputs, FloatsAreStandardNormal) {
  const auto tensor = make_input("x", test::f32_type({100, 100}), 1);
  ASSERT_TRUE(tensor);
  const auto values = *floats_of(*tensor);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1e4;
  double square = 0;
  for (const double value : values) square += value * value;
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(square / 1e4, 1, 0.05);
  EXPECT_GT(*std::ranges::max_element(values), 2.5);
}

TEST(Inputs, SixteenBitFloatsAreRoundedNotTruncated) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16, ElementType::kFloat64}) {
    const auto narrow = *floats_of(*make_input("x", ValueType::tensor(type, {5000}), 3));
    const auto wide = *floats_of(*make_input("x", test::f32_type({5000}), 3));
    const double step = type == ElementType::kBfloat16 ? 1.0 / 256 : 1.0 / 2048;
    for (std::size_t i = 0; i < wide.size(); ++i)
      ASSERT_LE(std::abs(narrow[i] - wide[i]), step * std::abs(wide[i]) + 1e-7) << name_of(type) << ' ' << wide[i];
  }
}

TEST(Inputs, SeedAndNameDecideTheBytes) {
  const auto type = test::f32_type({50});
  EXPECT_EQ(*make_input("x", type, 1), *make_input("x", type, 1));
  EXPECT_NE(*make_input("x", type, 1), *make_input("x", type, 2));
  EXPECT_NE(*make_input("x", type, 1), *make_input("y", type, 1));
}

TEST(Inputs, IntegersAreZeroOrOneUnlessTheyIndex) {
  const auto flags = *integers_of(*make_input("mask", i64_type({200}), 1));
  EXPECT_EQ(*std::ranges::min_element(flags), 0);
  EXPECT_EQ(*std::ranges::max_element(flags), 1);
  const auto bools = *integers_of(*make_input("b", ValueType::tensor(ElementType::kBool, {200}), 1));
  EXPECT_EQ(*std::ranges::max_element(bools), 1);
  const auto nibbles = *integers_of(*make_input("n", ValueType::tensor(ElementType::kInt4, {201}), 1));
  EXPECT_EQ(nibbles.size(), 201U);
  EXPECT_EQ(*std::ranges::min_element(nibbles), 0);
  EXPECT_EQ(*std::ranges::max_element(nibbles), 1);
}

TEST(Inputs, IntegersStayBelowTheExtentTheyIndex) {
  for (const auto& path : std::vector<std::vector<std::string>>{{}, {"Cast"}, {"Reshape", "Identity", "Transpose"}}) {
    const Graph graph = gather_graph(path);
    EXPECT_EQ(index_limit(graph, graph.inputs[0]), 11);
    const auto inputs = make_inputs(graph);
    ASSERT_TRUE(inputs);
    const auto ids = *integers_of(inputs->at(0));
    EXPECT_GE(*std::ranges::min_element(ids), 0);
    EXPECT_LE(*std::ranges::max_element(ids), 10);
    EXPECT_GT(*std::ranges::max_element(ids), 5);
  }
}

TEST(Inputs, ArithmeticBreaksTheTrail) {
  const Graph graph = gather_graph({"Neg"});
  EXPECT_EQ(index_limit(graph, graph.inputs[0]), std::nullopt);
}

TEST(Inputs, SmallestOfSeveralExtentsCounts) {
  Graph graph = gather_graph({});
  const ValueId small = add_constant(graph, "small", test::numbers({3, 4, 4, 4, 4, 4, 4}, 1));
  const ValueId out = add_value(graph, "out", test::f32_type({4}));
  add_node(graph, {.name = "nd",
                   .domain = "",
                   .op_type = "GatherND",
                   .inputs = {small, graph.inputs[0]},
                   .outputs = {out},
                   .captures = {},
                   .attributes = {}});
  EXPECT_EQ(index_limit(graph, graph.inputs[0]), 3);
}

TEST(Inputs, DivisorsArePositive) {
  const Graph graph =
      parse_graph(
          "graph(%a: i64[300], %b: i64[300]) -> (%y) { %c: i64[300] = Identity(%b) %y: i64[300] = Div(%a, %c) }")
          .value();
  const auto inputs = make_inputs(graph);
  ASSERT_TRUE(inputs);
  const auto dividends = *integers_of(inputs->at(0));
  const auto divisors = *integers_of(inputs->at(1));
  EXPECT_EQ(*std::ranges::min_element(divisors), 1);
  EXPECT_EQ(*std::ranges::min_element(dividends), 0);
}

TEST(Inputs, GatherOnALaterAxisUsesThatExtent) {
  Graph graph = gather_graph({});
  graph.nodes[0].attributes = {{.name = "axis", .value = std::int64_t{-1}}};
  EXPECT_EQ(index_limit(graph, graph.inputs[0]), 3);
}

TEST(Inputs, BodiesThatCaptureAnIndexAreLookedInto) {
  Graph body = gather_graph({});
  const ValueId outer = body.inputs[0];
  body.inputs.clear();
  body.captures = {outer};
  Graph graph = test::empty_graph();
  const ValueId condition = add_value(graph, "condition", ValueType::tensor(ElementType::kBool, {}));
  const ValueId ids = add_value(graph, "ids", i64_type({4, 7}));
  graph.inputs = {condition, ids};
  const Body shared{.graph = std::make_shared<const Graph>(body)};
  const ValueId out = add_value(graph, "out", test::f32_type({4, 7, 3}));
  add_node(graph, {.name = "if",
                   .domain = "",
                   .op_type = "If",
                   .inputs = {condition},
                   .outputs = {out},
                   .captures = {ids},
                   .attributes = {{.name = "else_branch", .value = shared}, {.name = "then_branch", .value = shared}}});
  EXPECT_EQ(index_limit(graph, ids), 11);
}

TEST(Inputs, RangesAreKeptAndChecked) {
  Graph graph = test::chain_graph();
  const auto inputs = make_inputs(graph, {.seed = 1, .ranges = {{"x", {2.0, 3.0}}}});
  ASSERT_TRUE(inputs);
  const auto values = *floats_of(inputs->at(0));
  for (const double value : values) {
    EXPECT_GE(value, 2.0);
    EXPECT_LE(value, 3.0);
  }
  const auto ids = *integers_of(*make_input("i", i64_type({300}), 1, std::pair(-2.0, 2.9)));
  EXPECT_EQ(*std::ranges::min_element(ids), -2);
  EXPECT_EQ(*std::ranges::max_element(ids), 2);
  EXPECT_EQ(make_input("i", ValueType::tensor(ElementType::kUint8, {3}), 1, std::pair(300.0, 400.0)).error().code,
            "input/bad-range");
  EXPECT_EQ(make_input("x", test::f32_type({3}), 1, std::pair(2.0, 1.0)).error().code, "input/bad-range");
  EXPECT_EQ(make_inputs(graph, {.seed = 1, .ranges = {{"typo", {0, 1}}}}).error().code, "input/unknown-name");
}

TEST(Inputs, OpenShapesAndStringsAreRefused) {
  ValueType open = test::f32_type({2});
  open.shape->at(0) = {.extent = -1, .symbol = "N"};
  EXPECT_EQ(make_input("x", open, 1).error().code, "input/unbound");
  EXPECT_EQ(make_input("x", ValueType::tensor(ElementType::kFloat8E5M2, {2}), 1).error().code,
            "input/unsupported-type");
  EXPECT_FALSE(make_input("x", ValueType::tensor(ElementType::kString, {2}), 1));
}

}  // namespace
}  // namespace collage
