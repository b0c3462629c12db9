#include "region/rules/pattern.h"

#include <gtest/gtest.h>

#include "region/rules/pattern_match.h"
#include "tests/region/rule_fixture.h"
#include "tests/support/dice.h"

namespace collage::testing_support {
namespace {

/// conv(x, w, b) -> sigmoid -> mul(conv, sigmoid) -> relu -> relu -> add(., x)
Graph sample() {
  GraphBuilder net;
  const ValueId x = net.input("x");
  const ValueId conv = net.add("Conv", {x, net.weight("w", {4, 4, 3, 3}), net.weight("b", {4})}, {1, 4, 2, 2},
                               {{"group", std::int64_t{1}},
                                {"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                {"auto_pad", std::string("VALID")}});
  const ValueId swish = net.add("Mul", {conv, net.add("Sigmoid", {conv})});
  const ValueId relus = net.add("Relu", {net.add("Relu", {swish})});
  return net.take({net.add("Add", {relus, x})});
}

Texts matches(const Graph& graph, const std::string& text, std::size_t max_outputs = 1) {
  const auto pattern = parse_pattern(text);
  EXPECT_TRUE(pattern) << to_string(pattern.error());
  Texts texts;
  if (pattern)
    for (const NodeSet& nodes : match_pattern(graph, uses_of(graph), *pattern, {.max_outputs = max_outputs}))
      texts.insert(to_string(nodes));
  return texts;
}

TEST(Pattern, OperandsMustBeAllThatTheNodeHasUnlessMoreAreAllowed) {
  const Graph graph = sample();
  EXPECT_EQ(matches(graph, "Conv(*, const, const)", 0), (Texts{"{0}"}));
  EXPECT_EQ(matches(graph, "Conv(*, const)", 0), Texts{});
  EXPECT_EQ(matches(graph, "Conv(*, const, ...)", 0), (Texts{"{0}"}));
  EXPECT_EQ(matches(graph, "Conv(const, ...)", 0), Texts{});
}

TEST(Pattern, AbsentOperandsMatchWhereTheyMayBeAbsent) {
  const Graph graph = sample();
  EXPECT_EQ(matches(graph, "Conv(*, const, const?, *?)", 0), (Texts{"{0}"}));
  EXPECT_EQ(matches(graph, "Conv(*, const, const, *)", 0), Texts{});
}

TEST(Pattern, SharedValuesAreOneValue) {
  const Graph graph = sample();
  EXPECT_EQ(matches(graph, "Mul(c=Conv, Sigmoid($c))"), (Texts{"{0..2}"}));
  EXPECT_EQ(matches(graph, "Mul(Sigmoid($c), c=Conv)"), (Texts{"{0..2}"})) << "asked for before it is given";
  EXPECT_EQ(matches(graph, "Add(a=*, $a)"), Texts{});
}

TEST(Pattern, OptionalAndRepeatedOperatorsStandBeforeTheirFirstOperand) {
  const Graph graph = sample();
  EXPECT_EQ(matches(graph, "Relu(Relu?(Mul))", 0), (Texts{"{2,3}", "{2..4}"}));
  EXPECT_EQ(matches(graph, "Add(Relu*(Mul), *)"), (Texts{"{2..5}"}));
  EXPECT_EQ(matches(graph, "Relu?(Mul)"), (Texts{"{2}", "{2,3}"}));
  EXPECT_EQ(matches(graph, "Relu*(Mul)"), (Texts{"{2}", "{2,3}", "{2..4}"}));
  EXPECT_EQ(matches(graph, "Add(Relu*(*), *)"), (Texts{"{5}", "{4,5}", "{3..5}"}));
}

TEST(Pattern, AChainGoesOnAfterATree) {
  EXPECT_EQ(matches(sample(), "Mul(c=Conv, Sigmoid($c)) -> Relu -> Relu?"), (Texts{"{0..3}", "{0..4}"}));
}

TEST(Pattern, ConditionsSpeakOfAttributesTypesAndShapes) {
  const Graph graph = sample();
  for (const char* holds :
       {"@group=1", "@kernel_shape=3x3", "@auto_pad=SAME|VALID", "@dilations?=1x1", "@dilations!=2x2", "type=f16|f32",
        "in0.type=f32", "rank=4", "rank<=4", "rank>3", "out0.dim1=4", "in1.dim2>=3", "size<17", "in0.dim1=dim1",
        "in0.type=out0.type", "@group!=2", "in7.rank!=2", "@group=1, rank=4"})
    EXPECT_EQ(matches(graph, std::string("Conv{") + holds + "}", 0), (Texts{"{0}"})) << holds;
  for (const char* fails :
       {"@group=2", "@group!=1", "@kernel_shape=3", "@dilations=1x1", "type=i64", "type!=f32", "rank<4", "rank>4",
        "in1.dim2=in0.dim2", "in7.rank=4", "dim9=1", "@auto_pad<=1", "@group=1, rank=2"})
    EXPECT_EQ(matches(graph, std::string("Conv{") + fails + "}", 0), Texts{}) << fails;
}

TEST(Pattern, VendorOperatorsCarryTheirDomain) {
  GraphBuilder net;
  Graph graph = net.take({net.add("Gelu", {net.input("x")})});
  graph.nodes[0].domain = "com.microsoft";
  EXPECT_EQ(matches(graph, "com.microsoft::Gelu"), (Texts{"{0}"}));
  EXPECT_EQ(matches(graph, "Gelu"), Texts{});
}

TEST(Pattern, PrintsWhatParsesBackToTheSame) {
  for (const char* text : {"Conv", "Conv|ConvTranspose", "Pad? -> Conv -> Relu|Add*",
                           "Mul(c=Conv{@group=1}(*, const, const?), Sigmoid($c))", "Relu?", "Relu*", "Add(Relu*(*), *)",
                           "Conv{in0.dim1>=16, out1.type=f16|f32, rank<=size}(*, ...) -> Relu",
                           "com.microsoft::FusedConv{@activation?=Relu}(a=*, $a, ...)"}) {
    const auto pattern = parse_pattern(text);
    ASSERT_TRUE(pattern) << text << ": " << to_string(pattern.error());
    const auto again = parse_pattern(to_text(*pattern));
    ASSERT_TRUE(again) << to_text(*pattern) << ": " << to_string(again.error());
    EXPECT_EQ(*again, *pattern) << text;
  }
}

TEST(Pattern, MalformedTextSaysWhereAndWhatIsAllowed) {
  for (const auto& [text, column, allowed] :
       {std::tuple{"", 1, "an operator's name"},
        {"Conv ->", 8, "an operator's name"},
        {"Conv(*", 7, "\",\" or \")\""},
        {"Conv()", 6, "an operator's name"},
        {"Conv{rank}", 10, "=, !=, <=, >=, <, > or ?="},
        {"Conv{colour=3}", 6, "@attribute, type, rank, size or dim0, with in0. or out0. before it"},
        {"Conv Relu", 6, "-> or the end"},
        {"Relu?(*)", 9, "a tree whose optional root stands on an operator"},
        {"Conv -> Relu(*)", 16, "a step without operands after ->"},
        {"Conv(a=$b)", 10, "an operator, * or const after a name"}}) {
    const auto pattern = parse_pattern(text, "here");
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code, "region/bad-pattern");
    EXPECT_EQ(pattern.error().where, "here");
    EXPECT_NE(pattern.error().saw.find("column " + std::to_string(column)), std::string::npos) << pattern.error().saw;
    EXPECT_EQ(pattern.error().allowed, allowed);
  }
  EXPECT_FALSE(parse_pattern("Conv{type=f33}"));
}

TEST(Pattern, RandomTextNeverCrashes) {
  const std::vector<std::string> pieces = {"Conv", "Relu", "(",    ")",     "{", "}",    "->",     "|",
                                           "*",    "?",    "$",    "a=",    ",", "...",  "@group", "=",
                                           "<=",   "rank", "in0.", "const", " ", "\xff", "1"};
  const Graph graph = sample();
  const Uses uses = uses_of(graph);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    std::string text;
    for (std::size_t i = 0; i < 1 + dice.below(14); ++i) text += dice.pick(pieces);
    const auto pattern = parse_pattern(text);
    if (!pattern) continue;
    EXPECT_EQ(parse_pattern(to_text(*pattern)), pattern) << text;
    EXPECT_LE(match_pattern(graph, uses, *pattern).size(), 1000U);
  }
  EXPECT_FALSE(parse_pattern(std::string(5000, '(')));
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "Relu(";
  EXPECT_FALSE(parse_pattern(deep)) << "nesting is bounded";
}

}  // namespace
}  // namespace collage::testing_support
