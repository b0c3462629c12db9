#include "region/operand_checks.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

/// A graph as one region, and what its checks are.
struct Subject {
  explicit Subject(const std::string& text) : graph(parse_graph(text).value()), open(open_conditions(graph)) {
    checks = operand_checks(graph, open, whole_region(graph, uses_of(graph)));
  }
  /// Names of the values that are looked at where they enter.
  [[nodiscard]] std::vector<std::string> entering() const {
    std::vector<std::string> names;
    for (const OperandCheck& check : checks.at_entry) names.push_back(graph.value(check.condition.value).name);
    return names;
  }

  Graph graph;
  std::vector<OpenCondition> open;
  OperandChecks checks;
};

using Names = std::vector<std::string>;

TEST(OperandChecks, AreOfWhatEntersTheRegion) {
  const Subject one("graph(%x: f32[3,4], %i: i64[2]) -> (%y) { %y: f32[2,4] = Gather(%x, %i) }");
  EXPECT_EQ(one.entering(), Names{"i"});
  EXPECT_TRUE(one.checks.inside.empty());
}

TEST(OperandChecks, FollowElementsThatOnlyMove) {
  const Subject moved(
      "graph(%x: f32[3,4], %i: i32[1,2]) -> (%y) { constant %s = i64[1]{2} %f: i32[2] = Reshape(%i, %s) %w: i64[2] = "
      "Cast(%f) {to=7} %y: f32[2,4] = Gather(%x, %w) }");
  EXPECT_EQ(moved.entering(), Names{"i"});
  // A number in the range is the same in both types; what a divisor becomes is not.
  const Subject narrowed(
      "graph(%x: f32[3,4], %i: i64[2]) -> (%y) { %w: i32[2] = Cast(%i) {to=6} %y: f32[2,4] = Gather(%x, %w) }");
  EXPECT_EQ(narrowed.entering(), Names{"i"});
  const Subject divisor("graph(%a: u8[2], %b: i64[2]) -> (%y) { %w: u8[2] = Cast(%b) {to=2} %y: u8[2] = Div(%a, %w) }");
  EXPECT_TRUE(divisor.entering().empty());
  EXPECT_EQ(divisor.checks.inside.size(), 1U);
}

TEST(OperandChecks, LeaveWhatIsComputedInsideToTheBackend) {
  const Subject sum(
      "graph(%x: f32[3,4], %i: i64[2]) -> (%y) { %s: i64[2] = Add(%i, %i) %y: f32[2,4] = Gather(%x, %s) \"pick\" }");
  ASSERT_EQ(sum.checks.inside.size(), 1U);
  EXPECT_EQ(why_inside(sum.graph, *sum.checks.inside[0]),
            "Gather 'pick' has operand 's' computed inside, and the library does not check it");
  const Uses uses = uses_of(sum.graph);
  const Region last = make_region(sum.graph, uses, node_set(sum.graph, {1}));
  const OperandChecks alone = operand_checks(sum.graph, sum.open, last);
  EXPECT_EQ(alone.at_entry.size(), 1U);
  EXPECT_TRUE(alone.inside.empty());
}

TEST(OperandChecks, LeaveUnknownExtentsToTheBackend) {
  const Subject open("graph(%x: f32[N,4], %i: i64[2]) -> (%y) { %y: f32[2,4] = Gather(%x, %i) }");
  EXPECT_TRUE(open.entering().empty());
  EXPECT_EQ(open.checks.inside.size(), 1U);
}

TEST(OperandChecks, OfDivisionsSeeBothOperands) {
  const Subject both("graph(%a: i64[3], %b: i64[3]) -> (%y) { %y: i64[3] = Div(%a, %b) }");
  EXPECT_EQ(both.entering(), (Names{"b", "b"}));
  const Subject inside("graph(%a: i64[3], %b: i64[3]) -> (%y) { %s: i64[3] = Add(%a, %a) %y: i64[3] = Div(%s, %b) }");
  EXPECT_EQ(inside.entering(), Names{"b"});
  ASSERT_EQ(inside.checks.inside.size(), 1U);
  EXPECT_EQ(inside.checks.inside[0]->condition.rule, OperandRule::kNoOverflow);
}

TEST(OperandChecks, KnowBodies) {
  const Subject branch(
      "graph(%c: bool[], %x: f32[3,4], %i: i64[2]) -> (%y) { %y: f32[2,4] = If(%c) captures(%x, %i) {else_branch=graph "
      "e() -> (%y) { capture %x: f32[3,4] capture %i: i64[2] %y: f32[2,4] = Gather(%x, %i) \"pick\" "
      "}, then_branch=graph t() -> (%y) { capture %x: f32[3,4] constant %k = i64[2]{0,1} %y: f32[2,4] = Gather(%x, %k) "
      "}} \"if\" }");
  EXPECT_TRUE(branch.entering().empty());
  ASSERT_EQ(branch.checks.inside.size(), 1U);
  EXPECT_EQ(branch.checks.inside[0]->asker->name, "pick");
}

}  // namespace
}  // namespace collage
