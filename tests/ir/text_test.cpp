#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/graph.h"
#include "ir/text_names.h"
#include "ir/text_print.h"
#include "tests/ir/parsed_graph.h"
#include "tests/support/random_graph.h"

namespace collage {
namespace {

void collect(const Tensor& tensor, std::map<std::string, Tensor>& found) {
  if (tensor.size() > kInlineElements) found.emplace(content_hash(tensor), tensor);
}

void collect(const Graph& graph, std::map<std::string, Tensor>& found) {
  for (const Value& value : graph.values)
    if (value.constant) collect(*value.constant, found);
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) collect(*tensor, found);
      if (const auto* tensors = std::get_if<std::vector<Tensor>>(&attribute.value))
        for (const Tensor& tensor : *tensors) collect(tensor, found);
    }
    for (const Graph* body : bodies_of(node)) collect(*body, found);
  }
}

/// The constants that to_text shows as a hash only, by that hash, those of bodies included.
std::map<std::string, Tensor> large_constants_of(const Graph& graph) {
  std::map<std::string, Tensor> found;
  collect(graph, found);
  return found;
}

void expect_reads_back(const Graph& graph) {
  const std::string text = to_text(graph);
  const auto again = parse_graph(text, large_constants_of(graph));
  ASSERT_TRUE(again) << to_string(again.error()) << '\n' << text;
  EXPECT_EQ(*again, graph) << text;
  EXPECT_EQ(to_text(*again), text);
}

constexpr std::string_view kSample =
    R"(graph main(%x: f32[1,3,8,8], %flag: bool[]) -> (%y, %/out/0, %y) {
  opset ai.onnx 26, com.microsoft 1
  constant %w = f32[1,3,1,1]{0.5,-1.0,1e-10}
  constant %"a shape" = i64[2]{1,-1}
  %y: f32[1,1,8,8], _ = Conv(%x, %w, _) {auto_pad="NOTSET", kernel_shape=[1,1], scale=2.0} "conv1"
  %/out/0: f32[N,?] = com.microsoft::Gelu(%y, %"a shape") "node 2"
  %r = If(%flag) captures(%y, %x) {else_branch=graph else() -> (%x) {
      capture %x: f32[1,3,8,8]
    }, then_branch=graph then() -> (%t) {
      capture %y: f32[1,1,8,8]
      %t = Relu(%y) "inner"
    }} "if"
  () = Print(%r) {empty=ints[], value=i64[1]{7}} "print"
}
)";

TEST(Text, PrintsAsWritten) { EXPECT_EQ(to_text(parsed(kSample)), kSample); }

TEST(Text, SampleIsAValidGraph) {
  const auto result = verify(parsed(kSample));
  EXPECT_TRUE(result) << to_string(result.error());
}

TEST(Text, RandomGraphsReadBackEqual) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_reads_back(random_graph(seed));
  }
}

TEST(Text, NormalisedGraphsNeedNoOrderLine) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto graph = normalised(random_graph(seed, {.unusual_names = false}));
    ASSERT_TRUE(graph);
    EXPECT_EQ(to_text(*graph).find("order"), std::string::npos) << "seed " << seed;
  }
}

TEST(Text, NeedsNoWhiteSpaceTypesOrNodeNames) {
  const Graph graph = parsed("graph(%x)->(%y){%y=Add(%x,%x)%z:f32[1]=Relu(%y)}");
  EXPECT_EQ(graph.nodes[0].name, "Add_0");
  EXPECT_EQ(graph.nodes[1].name, "Relu_1");
  EXPECT_EQ(graph.values[1].type, ValueType{});
}

TEST(Text, NodesMayReadWhatComesLater) {
  const Graph graph = parsed("graph(%x) -> (%b) { %b = Relu(%a) %a = Relu(%x) }");
  EXPECT_EQ(graph.nodes[0].inputs[0], graph.nodes[1].outputs[0]);
  expect_reads_back(graph);
}

TEST(Text, DomainsAndOperatorsKeepTheirSpelling) {
  Graph graph;
  graph.opsets = {{"", 26}, {"ai.onnx", 25}, {"my domain", 1}};
  add_node(graph, Node{.name = "a", .domain = "ai.onnx", .op_type = "Relu"});
  add_node(graph, Node{.name = "b", .domain = "my domain", .op_type = "odd::op"});
  expect_reads_back(graph);
}

TEST(Text, LooseValuesAndUnusualConstantTypesReadBack) {
  Graph graph;
  add_value(graph, "loose", *parse_value_type("f32[N]"));
  const ValueId id = add_constant(graph, "c", make_tensor<float>(ElementType::kFloat32, {1}, {1}));
  graph.value(id).type = *parse_value_type("f32[N]");
  expect_reads_back(graph);
}

TEST(Text, BrokenGraphsCanBePrinted) {
  Graph graph;
  graph.outputs = {ValueId{7}};
  add_node(graph,
           Node{.op_type = "Relu", .inputs = {ValueId{3}}, .outputs = {ValueId{4}}, .attributes = {{"b", Body{}}}});
  EXPECT_NE(to_text(graph).find("%!3"), std::string::npos);
  EXPECT_FALSE(parse_graph(to_text(graph)));
}

TEST(Text, LargeConstantsAreLookedUpByHash) {
  Graph graph;
  add_constant(graph, "inline", make_tensor<float>(ElementType::kFloat32, {16}, std::vector<float>(16, 1)));
  add_constant(graph, "large", make_tensor<float>(ElementType::kFloat32, {17}, std::vector<float>(17, 1)));
  const auto constants = large_constants_of(graph);
  ASSERT_EQ(constants.size(), 1U);
  EXPECT_EQ(parsed(to_text(graph), constants), graph);

  const auto without = parse_graph(to_text(graph));
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, "ir/parse");
  EXPECT_EQ(without.error().where, "line 3, column 29");

  auto others = constants;
  others.begin()->second = make_tensor<float>(ElementType::kFloat32, {1}, {1});
  EXPECT_FALSE(parse_graph(to_text(graph), others));
}

TEST(Text, TensorsReadBackBitForBit) {
  RandomGraphs source(5, {});
  for (int round = 0; round < 2000; ++round) {
    Graph graph;
    add_constant(graph, "c", source.tensor());
    expect_reads_back(graph);
  }
}

TEST(Text, ExtremeFloatsReadBack) {
  using Limits = std::numeric_limits<float>;
  Graph graph;
  add_constant(graph, "c",
               make_tensor<float>(ElementType::kFloat32, {9},
                                  {0.0F, -0.0F, Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(),
                                   Limits::infinity(), -Limits::infinity(), 0.1F}));
  add_constant(graph, "n", make_tensor<float>(ElementType::kFloat32, {1}, {Limits::quiet_NaN()}));
  add_node(graph,
           Node{.op_type = "Op",
                .attributes = {{"a", -0.0F}, {"b", std::vector<float>{Limits::infinity(), Limits::denorm_min()}}}});
  expect_reads_back(graph);
  const Graph again = parsed(to_text(graph));
  EXPECT_TRUE(std::signbit(*find_attribute<float>(again.nodes[0], "a")));
}

TEST(Text, EveryHalfReadsBack) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16})
    for (std::uint32_t first = 0; first < 65536; first += 16) {
      std::vector<std::uint16_t> bits;
      for (std::uint32_t i = 0; i < 16; ++i) bits.push_back(static_cast<std::uint16_t>(first + i));
      const Tensor tensor = make_tensor<std::uint16_t>(type, {16}, bits);
      const Graph graph = parsed("graph() -> () { constant %c = " + to_text(tensor) + " }");
      ASSERT_EQ(*graph.values.at(0).constant, tensor) << to_text(tensor);
    }
}

TEST(Text, HandWrittenHalvesAreRoundedToNearestEven) {
  const Graph graph = parsed("graph() -> () { constant %h = f16[5]{0.1,65519,65520,2049,2051} }");
  EXPECT_EQ(*graph.values.at(0).constant,
            make_tensor<std::uint16_t>(ElementType::kFloat16, {5}, {0x2e66, 0x7bff, 0x7c00, 0x6800, 0x6802}));
}

TEST(Text, NumbersTellTheirTypes) {
  EXPECT_EQ(float_text(1.0F), "1.0");
  EXPECT_EQ(float_text(-0.5F), "-0.5");
  EXPECT_EQ(float_text(1e20F), "1e+20");
  const Graph graph = parsed("graph() -> () { () = Op() {a=1, b=1.0, c=[1,2], d=[1.0,2.0], e=inf, f=-3} }");
  const Node& node = graph.nodes.at(0);
  EXPECT_NE(find_attribute<std::int64_t>(node, "a"), nullptr);
  EXPECT_NE(find_attribute<float>(node, "b"), nullptr);
  EXPECT_NE(find_attribute<std::vector<std::int64_t>>(node, "c"), nullptr);
  EXPECT_NE(find_attribute<std::vector<float>>(node, "d"), nullptr);
  EXPECT_NE(find_attribute<float>(node, "e"), nullptr);
  EXPECT_NE(find_attribute<std::int64_t>(node, "f"), nullptr);
}

TEST(Names, AreQuotedOnlyWhenTheyMust) {
  EXPECT_EQ(name_text("/model/conv-1.w"), "/model/conv-1.w");
  EXPECT_EQ(name_text("a b"), "\"a b\"");
  EXPECT_EQ(name_text(""), "\"\"");
  EXPECT_EQ(symbol_text("3"), "\"3\"");
  EXPECT_EQ(quoted("\"\\\n\t\x01\xff"), "\"\\\"\\\\\\n\\t\\x01\\xff\"");
}

class MalformedText : public testing::TestWithParam<const char*> {};

TEST_P(MalformedText, IsRefused) {
  const auto graph = parse_graph(GetParam());
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, "ir/parse");
  EXPECT_EQ(graph.error().exit, ExitCode::kBadInput);
  EXPECT_EQ(graph.error().where.find("line "), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Text, MalformedText,
    testing::Values("", "grap", "graph", "graph(", "graph() -> ()", "graph() -> () {", "graph() -> () {} x",
                    "graph(%x, %x) -> () {}", "graph() -> (%x) {}", "graph() -> (_) {}", "graph(_) -> () {}",
                    "graph(%x) -> () { %y = Relu(%z) }", "graph(%x) -> () { %x = Relu(%x) }",
                    "graph() -> () { constant %c }", "graph() -> () { constant %c = f32[2]{1} }",
                    "graph() -> () { constant %c = f32[2]{1,2,3} }", "graph() -> () { constant %c = f32[2]{1,x} }",
                    "graph() -> () { constant %c = u8[1]{256} }", "graph() -> () { constant %c = u8[1]{-1} }",
                    "graph() -> () { constant %c = bool[1]{2} }", "graph() -> () { constant %c = f32[1]x0000 }",
                    "graph() -> () { constant %c = f32[1]x0000000 }", "graph() -> () { constant %c = f32[N]{1} }",
                    "graph() -> () { constant %c = f32[99999999999]{1} }", "graph() -> () { constant %c = c64[1]{1} }",
                    "graph() -> () { constant %c = ?{1} }", "graph() -> () { constant %c = f32[20]#0123 }",
                    "graph() -> () { opset ai.onnx }", "graph() -> () { opset a 1, a 2 }",
                    "graph() -> () { () = Op() {a=} }", "graph() -> () { () = Op() {a=[]} }",
                    "graph() -> () { () = Op() {a=[1,2.0]} }", "graph() -> () { () = Op() {a=[[1]]} }",
                    "graph() -> () { () = Op() {a=1 b=2} }", "graph() -> () { () = Op() {a=99999999999999999999} }",
                    "graph() -> () { () = Op() {a=\"x} }", "graph() -> () { () = Op() {a=\"\\q\"} }",
                    "graph() -> () { () = Op() {a=graph b() -> ()} }", "graph() -> () { Op() }",
                    "graph() -> () { () = a::() }", "graph(%x) -> () { order %y }", "graph(%x) -> () { order %x, %x }",
                    "graph(%x, %y) -> () { order %x }", "graph(%x) -> () { order %x order %x }",
                    "graph(%x: f33[1]) -> () {}"));

TEST(Text, RefusesEndlessNestingWithoutExhaustingTheStack) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "graph() -> () { () = If() {b=";
  EXPECT_FALSE(parse_graph(text));
}

TEST(Text, SaysWhereItStopped) {
  const auto graph = parse_graph("graph g(%x) -> () {\n  %y = Relu(%x) {a=!}\n}");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().where, "line 2, column 20");
  EXPECT_EQ(graph.error().saw, "\"!}\\n}\"");
  EXPECT_EQ(graph.error().allowed, "a number");
}

TEST(Text, SurvivesCutAndChangedText) {
  Dice dice(11);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Graph graph = random_graph(seed, {.max_nodes = 6});
    const auto constants = large_constants_of(graph);
    const std::string text = to_text(graph);
    for (int round = 0; round < 60; ++round) {
      std::string changed = text;
      switch (dice.below(4)) {
        case 0:
          changed.resize(dice.below(changed.size()));
          break;
        case 1:
          changed[dice.below(changed.size())] = static_cast<char>(dice.below(256));
          break;
        case 2:
          changed.erase(dice.below(changed.size()), 1 + dice.below(8));
          break;
        default:
          changed.insert(dice.below(changed.size()), changed.substr(dice.below(changed.size()), dice.below(16)));
      }
      const auto again = parse_graph(changed, constants);
      if (!again) {
        EXPECT_EQ(again.error().code, "ir/parse");
      } else {
        // Whatever was read is a graph that reads back; it need not be a valid one.
        EXPECT_TRUE(parse_graph(to_text(*again), constants)) << "seed " << seed << '\n' << changed;
        (void)verify(*again);
      }
    }
  }
}

}  // namespace
}  // namespace collage
