#include "tune/report/rule_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tune/pool_fixture.h"

namespace collage::test {
namespace {

using ::testing::HasSubstr;

NodeRule rule(NodeRule::Kind kind, const std::string& glob, const std::string& backend) {
  return {.kind = kind, .glob = glob, .backend = backend};
}

class RuleEffects : public ::testing::Test {
 protected:
  RuleEffects() {
    for (std::size_t n = 0; n < 3; ++n) {
      problem.add("a", {n}, 10);
      problem.add("b", {n}, 20);
    }
  }
  [[nodiscard]] const std::string& node(std::size_t n) const { return problem.graph.nodes[n].name; }
  [[nodiscard]] RuleEffect effect(const UserRule& one) const {
    return effects_of(problem.graph, UserRules{one}, problem.pool).front();
  }

  PoolProblem problem = PoolProblem::chain(3);
};

TEST_F(RuleEffects, OfPinsAndBansCountNodesAndCandidatesKeptAway) {
  const std::vector<NodeRule> rules = {rule(NodeRule::Kind::kBan, "*", "b"), rule(NodeRule::Kind::kPin, node(1), "a"),
                                       rule(NodeRule::Kind::kBan, node(0), "nobody")};
  const std::vector<RuleEffect> effects = effects_of(problem.graph, rules, problem.pool);
  ASSERT_EQ(effects.size(), 3U);
  EXPECT_EQ(effects[0], (RuleEffect{.rule = "--ban *=b", .matches = "nodes", .matched = 3, .removed = 3}));
  EXPECT_EQ(effects[1].rule, "--pin " + node(1) + "=a");
  EXPECT_EQ(effects[1].matched, 1U);
  EXPECT_EQ(effects[1].removed, 1U) << "b's candidate there";
  EXPECT_TRUE(is_idle(effects[2])) << "nobody offered, so nothing was kept away";
}

TEST_F(RuleEffects, NobodyLeftNamesTheRulesAndTheNode) {
  const std::vector<NodeRule> rules = {rule(NodeRule::Kind::kPin, node(1), "a"),
                                       rule(NodeRule::Kind::kBan, node(1), "a")};
  CandidatePool after = problem.pool;
  EXPECT_EQ(nobody_left(problem.graph, rules, problem.pool, after), "");
  apply_rules(problem.graph, rules, after);
  const std::string text = nobody_left(problem.graph, rules, problem.pool, after);
  EXPECT_THAT(text, HasSubstr("--pin " + node(1) + "=a and --ban " + node(1) + "=a leave nobody for " + node(1)));
}

TEST_F(RuleEffects, OfAFuseRuleAreItsCandidatesAndStepsOfThePlan) {
  const UserRules rules = {{.kind = UserRule::Kind::kFuse,
                            .where = "r:1",
                            .text = "fuse a pair: x y",
                            .backend = "a",
                            .label = "pair",
                            .globs = {node(0), node(1)}}};
  EXPECT_EQ(effect(rules.front()).added, 0U);
  EXPECT_TRUE(is_idle(effect(rules.front())));
  problem.add("a", {0, 1}, 5);
  std::vector<RuleEffect> effects = effects_of(problem.graph, rules, problem.pool);
  EXPECT_EQ(effects[0].matched, 1U);
  EXPECT_EQ(effects[0].added, 1U);
  count_rule_steps(problem.graph, rules, problem.best()->cover, effects);
  EXPECT_EQ(effects[0].steps, 1U);
}

TEST_F(RuleEffects, ABanOfAnOperatorThatIsNotThereSuggestsOneThatIs) {
  const std::string op = problem.graph.nodes[0].op_type;
  std::string typo = op;
  std::swap(typo[0], typo[1]);
  const RuleEffect idle = effect(
      {.kind = UserRule::Kind::kBan, .where = "r:2", .text = "ban a: " + typo, .backend = "a", .operators = {typo}});
  EXPECT_EQ(idle.matched, 0U);
  EXPECT_THAT(idle.hint, HasSubstr("did you mean " + op));
  EXPECT_EQ(effect({.kind = UserRule::Kind::kBan, .where = "r:2", .backend = "a", .operators = {op}}).matched, 3U);
}

TEST_F(RuleEffects, OfALimitAreTheRegionsItKeptAway) {
  problem.refuse("a", {0, 1}, RefusalReason::kStructure, "limits: 2 nodes");
  problem.refuse("b", {0, 1}, RefusalReason::kStructure, "limits: 2 nodes");
  EXPECT_EQ(effect({.kind = UserRule::Kind::kLimit, .where = "r:3", .backend = "a"}).removed, 1U);
}

}  // namespace
}  // namespace collage::test
