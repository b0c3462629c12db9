#include "ir/operand_conditions.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ir/intervals.h"
#include "tests/ir/parsed_graph.h"

namespace collage {
namespace {

/// "i: -3 to 2", "b: not 0", "b: no a / -1", "i: ?"; several ranges one after the other.
std::string text_of(const Graph& graph, const OperandCondition& condition) {
  const std::string name = graph.value(condition.value).name + ": ";
  if (condition.rule == OperandRule::kNonZero) return name + "not 0";
  if (condition.rule == OperandRule::kNoOverflow) return name + "no " + graph.value(condition.dividend).name + " / -1";
  std::string text;
  for (const OperandRange& range : condition.ranges) text += (text.empty() ? "" : "; ") + to_string(range);
  return name + (text.empty() ? "?" : text);
}

std::string conditions_of(const std::string& text) {
  const Graph graph = parsed(text);
  std::string all;
  for (const OperandCondition& condition : operand_conditions(graph, graph.nodes.back()))
    all += (all.empty() ? "" : ", ") + text_of(graph, condition);
  return all;
}

TEST(OperandConditions, AreThoseOfTheTable) {
  struct Row {
    std::string graph;
    std::string conditions;
  };
  const std::vector<Row> rows = {
      {"graph(%x: f32[3,4], %i: i64[2]) -> (%y) { %y: f32[2,4] = Gather(%x, %i) }", "i: -3 to 2"},
      {"graph(%x: f32[3,4], %i: i64[2]) -> (%y) { %y: f32[3,2] = Gather(%x, %i) {axis=-1} }", "i: -4 to 3"},
      {"graph(%x: f32[N,4], %i: i64[2]) -> (%y) { %y: f32[2,4] = Gather(%x, %i) }", "i: ?"},
      {"graph(%x: f32[0,4], %i: i64[2]) -> (%y) { %y: f32[2,4] = Gather(%x, %i) }", "i: nothing"},
      {"graph(%x: f32[3,4], %i: i64[1,4]) -> (%y) { %y: f32[1,4] = GatherElements(%x, %i) }", "i: -3 to 2"},
      {"graph(%x: f32[3,4], %i: i64[5,2]) -> (%y) { %y: f32[5] = GatherND(%x, %i) }", "i: -3 to 2; -4 to 3"},
      {"graph(%x: f32[5,4], %i: i64[5,1]) -> (%y) { %y: f32[5] = GatherND(%x, %i) {batch_dims=1} }", "i: -4 to 3"},
      {"graph(%x: f32[3,4], %i: i64[1,4], %u: f32[1,4]) -> (%y) { %y: f32[3,4] = ScatterElements(%x, %i, %u) {axis=1} "
       "}",
       "i: -4 to 3"},
      {"graph(%x: f32[3,4], %i: i64[1,1], %u: f32[1,4]) -> (%y) { %y: f32[3,4] = ScatterND(%x, %i, %u) }",
       "i: -3 to 2"},
      {"graph(%x: f32[4,3], %l: i64[3]) -> (%y) { %y: f32[4,3] = ReverseSequence(%x, %l) }", "l: 0 to 4"},
      {"graph(%x: f32[4,3], %a: i64[]) -> (%y) { %y: f32[4,3] = CumSum(%x, %a) }", "a: -2 to 1"},
      {"graph(%x: f32[4,3], %k: i64[1]) -> (%y, %z) { %y: f32[4,K], %z: i64[4,K] = TopK(%x, %k) }", "k: 0 to 3"},
      {"graph(%x: f32[4,3], %r: i64[2]) -> (%y) { %y: f32[A,B] = Tile(%x, %r) }", "r: at least 0"},
      {"graph(%a: i64[3], %b: i64[3]) -> (%y) { %y: i64[3] = Div(%a, %b) }", "b: not 0, b: no a / -1"},
      {"graph(%a: u8[3], %b: u8[3]) -> (%y) { %y: u8[3] = Div(%a, %b) }", "b: not 0"},
      {"graph(%a: i8[3], %b: i8[3]) -> (%y) { %y: i8[3] = Mod(%a, %b) }", "b: not 0"},
      {"graph(%a: i32[3], %b: i32[3]) -> (%y) { %y: i32[3] = Mod(%a, %b) {fmod=1} }", "b: not 0"},
      {"graph(%a: f32[3], %b: f32[3]) -> (%y) { %y: f32[3] = Div(%a, %b) }", ""},
      {"graph(%x: f32[3], %i: i64[3]) -> (%y) { %y: f32[3] = Add(%x, %x) }", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(conditions_of(row.graph), row.conditions) << row.graph;
}

std::size_t open_count(const std::string& text) { return open_conditions(parsed(text)).size(); }

/// One Gather from ten rows by what `body` makes of inputs of these types.
std::string lookup(const std::string& inputs, const std::string& body) {
  return fmt::format("graph(%x: f32[10,4], {}) -> (%y) {{ {} %y: f32[?,4] = Gather(%x, %i) }}", inputs, body);
}

TEST(OpenConditions, AreSettledByConstants) {
  EXPECT_EQ(open_count(lookup("%o: f32[1]", "constant %i = i64[2]{0, 9}")), 0U);
  EXPECT_EQ(open_count(lookup("%o: f32[1]", "constant %i = i64[2]{-10, 9}")), 0U);
  EXPECT_EQ(open_count(lookup("%o: f32[1]", "constant %i = i64[2]{0, 10}")), 1U);
  EXPECT_EQ(open_count(lookup("%i: i64[2]", "")), 1U);
  // The first and the last row of any table.
  EXPECT_EQ(open_count("graph(%x: f32[N,4]) -> (%y) { constant %i = i64[]{-1} %y: f32[4] = Gather(%x, %i) }"), 0U);
  EXPECT_EQ(open_count("graph(%x: f32[N,4]) -> (%y) { constant %i = i64[]{1} %y: f32[4] = Gather(%x, %i) }"), 1U);
  EXPECT_EQ(open_count("graph(%a: i64[3]) -> (%y) { constant %b = i64[]{-2} %y: i64[3] = Div(%a, %b) }"), 0U);
  EXPECT_EQ(open_count("graph(%a: i64[3]) -> (%y) { constant %b = i64[]{-1} %y: i64[3] = Div(%a, %b) }"), 1U);
}

TEST(OpenConditions, AreSettledByWhatComputesTheOperand) {
  const std::vector<std::pair<std::string, std::string>> settled = {
      {"%s: f32[2,10]", "%i: i64[2,1] = ArgMax(%s) {axis=1}"},
      {"%s: i64[2]", "constant %l = i64[]{0} constant %h = i64[]{9} %i: i64[2] = Clip(%s, %l, %h)"},
      {"%s: i64[2]", "constant %m = i64[]{10} %i: i64[2] = Mod(%s, %m)"},
      {"%s: u8[2]", "constant %d = i64[]{26} %w: i64[2] = Cast(%s) {to=7} %i: i64[2] = Div(%w, %d)"},
      {"%s: bool[2]", "%i: i32[2] = Cast(%s) {to=6}"},
      {"%s: bool[9]", "%w: i64[9] = Cast(%s) {to=7} constant %a = i64[]{0} %i: i64[9] = CumSum(%w, %a)"},
      {"%s: bool[2]", "constant %t = i64[]{9} constant %f = i64[]{-10} %i: i64[2] = Where(%s, %t, %f)"},
      {"%s: f32[3,9]", "%i: i64[2] = Shape(%s)"},
      {"%s: f32[3,9]", "%i: i64[2,?] = NonZero(%s)"},
      {"%b: f32[1,9,4], %s: f32[1,5,9]", "%i: i64[?,3] = NonMaxSuppression(%b, %s)"},
      {"%b: f32[1,9,4], %s: f32[1,50,9]",
       "%n: i64[?,3] = NonMaxSuppression(%b, %s) constant %two = i64[]{2} %i: i64[?] = Gather(%n, %two) {axis=1}"},
      {"%b: f32[1,9,4], %s: f32[1,50,9]",
       "%n: i64[?,3] = NonMaxSuppression(%b, %s) constant %f = i64[1]{2} constant %t = i64[1]{3} constant %a = "
       "i64[1]{1} "
       "%i: i64[?,1] = Slice(%n, %f, %t, %a)"},
      {"%s: f32[3,3]", "%u: f32[?], %f: i64[?], %i: i64[9] = Unique(%s)"},
  };
  for (const auto& [inputs, body] : settled) EXPECT_EQ(open_count(lookup(inputs, body)), 0U) << body;
}

TEST(OpenConditions, StayWhereTheOperandMayBeAnything) {
  const std::vector<std::pair<std::string, std::string>> open = {
      {"%s: f32[2,11]", "%i: i64[2,1] = ArgMax(%s) {axis=1}"},
      {"%b: f32[1,9,4], %s: f32[1,50,9]",
       "%n: i64[?,3] = NonMaxSuppression(%b, %s) constant %one = i64[]{1} %i: i64[?] = Gather(%n, %one) {axis=1}"},
      {"%b: f32[1,9,4], %s: f32[1,50,9]",
       "%n: i64[?,3] = NonMaxSuppression(%b, %s) constant %two = i64[]{-2} %i: i64[?] = Gather(%n, %two) {axis=1}"},
      {"%s: i64[2]", "constant %h = i64[]{9} %i: i64[2] = Clip(%s, _, %h)"},
      {"%s: f32[2]", "%i: i64[2] = Cast(%s) {to=7}"},
      {"%s: i64[2]", "constant %one = i64[]{1} %i: i64[2] = Add(%s, %one)"},
      {"%s: f32[3,12]", "%i: i64[2] = Shape(%s)"},
      {"%s: bool[2]",
       "%w: i8[2] = Cast(%s) {to=3} constant %k = i8[]{100} %p: i8[2] = Add(%w, %k) %i: i64[2] = Cast(%p) {to=7}"},
  };
  for (const auto& [inputs, body] : open) EXPECT_EQ(open_count(lookup(inputs, body)), 1U) << body;
}

TEST(OpenConditions, KnowWhatBodiesAreGiven) {
  const auto loop = [](int trips) {
    return fmt::format(
        "graph(%x: f32[10,4], %c: bool[]) -> (%y) {{ constant %n = i64[]{{{}}} %y: f32[?,4] = Loop(%n, %c) "
        "captures(%x) "
        "{{body=graph b(%i: i64[], %g: bool[]) -> (%g, %r) {{ capture %x: f32[10,4] %r: f32[4] = Gather(%x, %i) }}}} "
        "}}",
        trips);
  };
  EXPECT_EQ(open_count(loop(10)), 0U);
  EXPECT_EQ(open_count(loop(11)), 1U);
}

TEST(Intervals, WrapWhatDoesNotFitTheType) {
  const Graph graph = parsed(
      "graph(%s: i8[2]) -> (%y) { constant %k = i8[]{100} %m: i8[2] = Mul(%s, %k) constant %z = i8[]{0} %y: i8[2] = "
      "Max(%m, %z) }");
  Intervals intervals(graph);
  EXPECT_EQ(intervals.of(graph.nodes[0].outputs[0]), (OperandRange{-128, 127}));
  EXPECT_EQ(intervals.of(graph.nodes[1].outputs[0]), (OperandRange{0, 127}));
}

TEST(ConstantOperands, OutsideWhatTheyIndexAreErrors) {
  const auto bad = check_constant_operands(
      parsed("graph(%x: f32[3,4]) -> (%y) { constant %i = i64[2]{0, 7} %y: f32[2,4] = Gather(%x, %i) }"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, "import/bad-operand");
  EXPECT_EQ(bad.error().exit, ExitCode::kBadInput);
  EXPECT_EQ(bad.error().saw, "constant 7");
  EXPECT_EQ(bad.error().allowed, "-3 to 2");
  EXPECT_FALSE(check_constant_operands(
      parsed("graph(%a: i64[3]) -> (%y) { constant %b = i64[3]{1, 0, 2} %y: i64[3] = Div(%a, %b) }")));
  EXPECT_TRUE(check_constant_operands(
      parsed("graph(%a: i64[3]) -> (%y) { constant %b = i64[3]{1, -1, 2} %y: i64[3] = Div(%a, %b) }")));
}

}  // namespace
}  // namespace collage
