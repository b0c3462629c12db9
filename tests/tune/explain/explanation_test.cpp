#include "tune/explain/explanation.h"

#include <gmock/gmock.h>

#include "base/json_numbers.h"
#include "plan/file/plan_report_json.h"
#include "tests/tune/pool_fixture.h"

namespace collage {
namespace {

using test::PoolProblem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "a/v@10 b/v@12+2": who runs it, then the offers with cost and margin.
std::string story(const Explanation& explanation, std::size_t node) {
  const ExplainedNode& at = explanation.nodes[node];
  const auto text = [&](std::uint32_t c) {
    const ExplainedCandidate& candidate = explanation.candidates[c];
    std::string made = candidate.backend + "/" + candidate.variant;
    if (candidate.cost_ns) made += "@" + std::to_string(*candidate.cost_ns);
    if (candidate.margin_ns) made += "+" + std::to_string(*candidate.margin_ns);
    return made;
  };
  std::string all = text(at.chosen);
  for (const std::uint32_t c : at.offers) all += " " + text(c);
  for (const std::uint32_t c : at.unmeasured) all += " ?" + text(c);
  return all;
}

std::vector<std::string> refusals(const Explanation& explanation, std::size_t node) {
  std::vector<std::string> list;
  for (const std::uint32_t r : explanation.nodes[node].refusals) {
    const ExplainedRefusal& refusal = explanation.refusals[r];
    list.push_back(refusal.backend + "/" + refusal.variant + " " + refusal.reason + " " + refusal.detail);
  }
  return list;
}

TEST(ExplainCover, EachBackendsBestOfferComesWithItsMarginCheapestFirst) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10, "plain", "quick");
  problem.add("a", {0}, 13, "plain", "slow");
  problem.add("a", {0}, 17, "plain", "slower");
  problem.add("b", {0}, 11, "channels_last");
  problem.add("c", {0}, 12);
  problem.add("a", {1}, 10);
  problem.add("c", {0, 1}, 25);
  const auto best = problem.best();
  const Explanation explanation = explain_cover(problem.inputs(best->cover));
  EXPECT_EQ(story(explanation, 0), "a/quick@10 c/v@12+2 a/slow@13+3 b/v.channels_last@11+7") << "two conversions of 3";
  EXPECT_EQ(story(explanation, 1), "a/v@10 c/v@25+5");
  EXPECT_THAT(explanation.candidates[explanation.nodes[1].offers[0]].nodes, ElementsAre(0, 1));
  EXPECT_EQ(explanation.nodes[1].name, "n1");
}

TEST(ExplainCover, MarginIsThatOfAnotherCoverWhereThatIsLess) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("b", {0}, 8, "channels_last");
  problem.add("b", {1}, 8, "channels_last");
  const Cover best = problem.best()->cover;
  ASSERT_EQ(best.cost_ns, 20);
  problem.costs[0] = problem.costs[1] = Unknown{};
  const Cover other = problem.best()->cover;
  ASSERT_EQ(other.cost_ns, 22);
  problem.costs[0] = problem.costs[1] = Measured{.median_ns = 10, .low_ns = 10, .high_ns = 10, .samples = 1};
  EXPECT_EQ(story(explain_cover(problem.inputs(best)), 0), "a/v@10 b/v.channels_last@8+4");
  ExplainInputs inputs = problem.inputs(best);
  inputs.plans.push_back({.name = "only b", .cover = &other, .is_single = true});
  const Explanation both = explain_cover(inputs);
  EXPECT_EQ(story(both, 0), "a/v@10 b/v.channels_last@8+2");
  EXPECT_EQ(both.candidates[both.nodes[0].offers[0]].margin_by, MarginBy::kCover);
  // The other way round the best cover is cheaper for reasons of all its nodes; that is a gap, not a node's margin.
  inputs.shipped = 1;
  inputs.model_bound_ns = 20;
  const Explanation beaten = explain_cover(inputs);
  EXPECT_EQ(beaten.candidates[beaten.nodes[0].offers[0]].margin_by, MarginBy::kExchange);
  EXPECT_EQ(model_gap_ns(beaten), 2);
}

TEST(ExplainCover, TellsWhatWasNeverMeasuredAndWhy) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("b", {0}, Unknown{});
  problem.add("b", {0, 1}, Unknown{});
  const Cover best = problem.best()->cover;
  ExplainInputs inputs = problem.inputs(best);
  inputs.lower_bound_ns = {0, 0, 4, 19};
  inputs.why_unmeasured = {Unmeasured::kNotNeeded, Unmeasured::kNotNeeded, Unmeasured::kNotNeeded,
                           Unmeasured::kOutOfTime};
  const Explanation explanation = explain_cover(inputs);
  EXPECT_EQ(story(explanation, 0), "a/v@10 ?b/v");
  const ExplainedCandidate* second = runner_up_of(explanation, explanation.nodes[0]);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cost_at_least_ns, 4);
  EXPECT_EQ(second->margin_at_least_ns, 4 + 9 - 20) << "n1 alone has a share of 19 / 2 at least";
  EXPECT_EQ(second->why_unmeasured, Unmeasured::kNotNeeded);
  const ExplainedCandidate* pair = runner_up_of(explanation, explanation.nodes[1]);
  EXPECT_EQ(pair->margin_at_least_ns, 19 - 20);
  EXPECT_EQ(pair->why_unmeasured, Unmeasured::kOutOfTime);
  EXPECT_EQ(explanation.candidates[explanation.nodes[0].chosen].why_unmeasured, Unmeasured::kUnknown) << "it was";
}

TEST(ExplainCover, BodiesMayTakeLessThanTheirChosenSteps) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("bodies", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("b", {1}, Unknown{});
  const Cover best = problem.best()->cover;
  ExplainInputs inputs = problem.inputs(best);
  inputs.lower_bound_ns = {0, 0, 4};
  const Explanation explanation = explain_cover(inputs);
  EXPECT_EQ(runner_up_of(explanation, explanation.nodes[1])->margin_at_least_ns, 4 - 20);
}

TEST(ExplainCover, ANodeComputedTwiceIsRunByTheStepThatCoversIt) {
  // n0 feeds n1 and n2; b computes n0 again for n2, where it comes last in the cover.
  PoolProblem problem(3, {{0, 1}, {0, 2}});
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("b", {0, 2}, 4, "plain", "v", {0});
  problem.add("c", {0}, 11);
  problem.add("c", {1, 0}, 30, "plain", "v", {0});
  problem.add("d", {0, 2}, Infeasible{{RefusalReason::kWrongResult, "off"}}, "plain", "v", {0});
  problem.refuse("e", {0, 2}, RefusalReason::kStructure, "no");
  const Cover best = problem.best()->cover;
  ASSERT_EQ(best.cost_ns, 24);
  const Explanation explanation = explain_cover(problem.inputs(best));
  EXPECT_EQ(story(explanation, 0), "a/v@10 c/v@11+1");
  EXPECT_EQ(story(explanation, 1), "a/v@10 c/v@30+20") << "the copy of n0 is its own";
  EXPECT_EQ(story(explanation, 2), "b/v@4");
  const ExplainedCandidate& twice = explanation.candidates[explanation.nodes[2].chosen];
  EXPECT_THAT(twice.nodes, ElementsAre(0, 2));
  EXPECT_THAT(twice.repeated, ElementsAre(0));
  EXPECT_THAT(refusals(explanation, 0), ElementsAre("e/ structure no")) << "d was not to cover it";
  EXPECT_THAT(refusals(explanation, 2), ElementsAre("d/v wrong-result off", "e/ structure no"));
}

/// "22: b/v on 0": cost, then the steps that the cover explained does not have.
std::vector<std::string> alternatives(const Explanation& explanation) {
  std::vector<std::string> list;
  for (const ExplainedAlternative& other : explanation.alternatives) {
    list.push_back(std::to_string(other.cost_ns) + " (" + std::to_string(other.changed) + "):");
    for (const std::uint32_t c : other.steps) {
      const ExplainedCandidate& step = explanation.candidates[c];
      list.back() += " " + step.backend + "/" + step.variant + " on " + ranges_text(step.nodes);
    }
  }
  return list;
}

TEST(ExplainCover, AlternativesSayWhatChangesAndBoundMargins) {
  PoolProblem problem = PoolProblem::chain(3);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("a", {2}, 10);
  const Cover best = problem.best()->cover;
  problem.costs[0] = Unknown{};
  problem.add("b", {0}, 8, "channels_last");
  problem.add("b", {1}, 8, "channels_last");
  const Cover pair = problem.best()->cover;
  ASSERT_EQ(pair.cost_ns, 32);
  problem.costs[0] = Measured{.median_ns = 10, .low_ns = 10, .high_ns = 10, .samples = 1};
  ExplainInputs inputs = problem.inputs(best, 35);
  for (const Cover* cover : {&best, &pair})
    inputs.plans.push_back({.name = "alternative", .cover = cover, .is_alternative = true});
  inputs.alternatives_complete = true;
  const Explanation explanation = explain_cover(inputs);
  EXPECT_THAT(alternatives(explanation), ElementsAre("32 (2): b/v.channels_last on 0 b/v.channels_last on 1"));
  EXPECT_TRUE(explanation.alternatives_complete);
  EXPECT_EQ(story(explanation, 0), "a/v@10 b/v.channels_last@8+2") << "alone it would cost two conversions";
  EXPECT_EQ(explanation.candidates[explanation.nodes[0].offers[0]].margin_by, MarginBy::kCover);
}

TEST(ExplainCover, AlternativesAreToTheBestCoverWhereAnEngineShips) {
  PoolProblem problem = PoolProblem::chain(1);
  problem.add("a", {0}, 10);
  problem.add("b", {0}, 12);
  const Cover best = problem.best()->cover;
  problem.costs[0] = Unknown{};
  const Cover other = problem.best()->cover;
  problem.costs[0] = Measured{.median_ns = 10, .low_ns = 10, .high_ns = 10, .samples = 1};
  Cover whole;
  whole.steps.resize(1);
  whole.steps[0].backend = "engine";
  ExplainInputs inputs = problem.inputs(best, 14);
  inputs.plans.push_back({.name = "engine", .cover = &whole, .median_ns = 9, .is_rival = true, .is_single = true});
  inputs.plans.push_back({.name = "alternative", .cover = &other, .is_alternative = true});
  inputs.shipped = 1;
  EXPECT_THAT(alternatives(explain_cover(inputs)), ElementsAre("12 (1): b/v on 0"));
  inputs.plans = {inputs.plans[1]};
  inputs.shipped = 0;
  const Explanation alone = explain_cover(inputs);
  EXPECT_THAT(alone.alternatives, IsEmpty());
  EXPECT_EQ(alone.why_no_alternatives, "no cover competed");
}

TEST(ExplainCover, KeepsRefusalsOfTheNodeAloneAndFailures) {
  PoolProblem problem = PoolProblem::chain(3);
  for (std::size_t n = 0; n < 3; ++n) problem.add("a", {n}, 10);
  problem.refuse("b", {0}, RefusalReason::kType, "i64");
  problem.refuse("b", {0, 1}, RefusalReason::kStructure, "two of them");
  problem.refuse("b", {1, 2}, RefusalReason::kStructure, "two of them");
  problem.refuse("b", {0, 1, 2}, RefusalReason::kStructure, "two of them");
  problem.refuse("a", {1, 2}, RefusalReason::kStructure, "no need");
  problem.add("c", {2}, Infeasible{{RefusalReason::kWrongResult, "off by 3"}}, "plain", "wino");
  const Cover best = problem.best()->cover;
  const Explanation explanation = explain_cover(problem.inputs(best));
  EXPECT_THAT(refusals(explanation, 0), ElementsAre("b/ type i64")) << "larger regions add nothing to that";
  EXPECT_THAT(refusals(explanation, 1), ElementsAre("b/ structure two of them"));
  EXPECT_THAT(refusals(explanation, 2), ElementsAre("c/wino wrong-result off by 3", "b/ structure two of them"));
  EXPECT_EQ(explanation.refusals.size(), 3U) << "what is said twice is kept once";
}

TEST(ExplainCover, ThoseWhoTakeOnlyTheRestMakeNoOffers) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("fill", {0}, 5);
  problem.add("fill", {1}, 5);
  problem.add("fill", {1}, 7, "plain", "other");
  Cover cover = problem.best()->cover;
  problem.costs[1] = Unknown{};
  cover = problem.best()->cover;
  problem.costs[1] = Measured{.median_ns = 5, .low_ns = 5, .high_ns = 5, .samples = 1};
  ExplainInputs inputs = problem.inputs(cover);
  inputs.fillers = {"fill"};
  const Explanation explanation = explain_cover(inputs);
  EXPECT_EQ(story(explanation, 0), "a/v@10");
  EXPECT_EQ(story(explanation, 1), "fill/v@5 fill/other@7+2") << "where nobody else runs it they compete";
}

TEST(ExplainCover, NamesTheRulesThatNameANode) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  const Cover best = problem.best()->cover;
  const std::vector<NodeRule> rules = {{NodeRule::Kind::kPin, "*1", "a"}, {NodeRule::Kind::kBan, "*", "b"}};
  ExplainInputs inputs = problem.inputs(best);
  inputs.rules = rules;
  const Explanation explanation = explain_cover(inputs);
  EXPECT_THAT(explanation.nodes[0].rules, ElementsAre(1));
  EXPECT_THAT(explanation.nodes[1].rules, ElementsAre(0, 1));
  EXPECT_TRUE(explanation.rules[0].is_pin);
}

TEST(ExplainCover, LossesCompareTheCoverWithItsSumItsBoundAndTheBestSingleBackend) {
  PoolProblem problem = PoolProblem::chain(1);
  problem.add("a", {0}, 10);
  const Cover best = problem.best()->cover;
  ExplainInputs inputs = problem.inputs(best, 14);
  inputs.model_bound_ns = 10;
  inputs.proven_bound_ns = 8;
  inputs.plans.push_back({.name = "slow", .cover = &best, .median_ns = 30, .is_rival = true, .is_single = true});
  inputs.plans.push_back({.name = "quick", .cover = &best, .median_ns = 20, .is_rival = true, .is_single = true});
  inputs.plans.push_back({.name = "broken", .cover = &best, .median_ns = 0, .is_rival = true, .is_single = true});
  inputs.plans.push_back({.name = "mixed", .cover = &best, .median_ns = 15});
  const Explanation explanation = explain_cover(inputs);
  EXPECT_EQ(additive_error_ns(explanation), 4);
  EXPECT_EQ(optimality_loss_ns(explanation), 6);
  EXPECT_EQ(explanation.apparent_loss_ns, 14 - 20);
  EXPECT_EQ(explanation.apparent_loss_against, "quick");
  EXPECT_EQ(model_gap_ns(explanation), 0);
  EXPECT_EQ(proven_gap_ns(explanation), 2);
}

TEST(ExplainCover, BoundsAreNeverAboveTheSumAndTheSumIsThatOfItsParts) {
  PoolProblem problem = PoolProblem::chain(3);
  for (std::size_t n = 0; n < 3; ++n) problem.add("a", {n}, 10);
  problem.costs[1] = Estimated{.ns = 7};
  problem.launch_ns = 2;
  const Cover best = problem.best()->cover;
  ExplainInputs inputs = problem.inputs(best, 50);
  inputs.model_bound_ns = 1000;  // of a search under other costs
  inputs.proven_bound_ns = 1001;
  const Explanation explanation = explain_cover(inputs);
  EXPECT_EQ(explanation.sum,
            (ExplainedSum{.measured_ns = 20, .estimated_ns = 7, .launch_ns = 6, .measured = 2, .estimated = 1}));
  EXPECT_EQ(explanation.cover_ns, 33);
  EXPECT_EQ(explanation.model_bound_ns, 33);
  EXPECT_EQ(explanation.proven_bound_ns, 33);
  inputs.model_bound_ns = 30;
  inputs.proven_bound_ns = 12;
  EXPECT_EQ(explain_cover(inputs).model_bound_ns, 30) << "what holds stays";
  EXPECT_EQ(explain_cover(inputs).proven_bound_ns, 12);
}

TEST(ExplainCover, CostsCorrectedForTheirPlaceAreToldAsMeasuredAlone) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  Cover corrected = problem.best()->cover;
  for (CoverStep& step : corrected.steps)
    step.cost = Measured{.median_ns = 99, .low_ns = 99, .high_ns = 99, .samples = 1};
  const Explanation explanation = explain_cover(problem.inputs(corrected));
  EXPECT_EQ(explanation.sum.measured_ns, 20);
}

TEST(ExplainCover, ALineThatFusesIsKnownAtItsNodes) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  const Cover best = problem.best()->cover;
  ExplainInputs inputs = problem.inputs(best);
  const UserRules rules = {{.kind = UserRule::Kind::kFuse,
                            .where = "r.txt:1",
                            .text = "fuse a x: ...",
                            .backend = "a",
                            .globs = {problem.graph.nodes[1].name}}};
  inputs.user_rules = rules;
  const Explanation explanation = explain_cover(inputs);
  ASSERT_EQ(explanation.user_rules.size(), 1U);
  EXPECT_TRUE(explanation.user_rules[0].takes_others);
  EXPECT_TRUE(explanation.nodes[0].user_rules.empty());
  EXPECT_EQ(explanation.nodes[1].user_rules, std::vector<std::uint32_t>{0});
}

TEST(ExplainCover, AnEngineThatWonIsExplainedByTheTimesOfThePlansItBeat) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("b", {0}, 30);
  const Cover best = problem.best()->cover;
  Cover whole;
  whole.steps.resize(1);
  whole.steps[0].backend = "engine";
  std::get<CoverKernel>(whole.steps[0].work).variant.name = "default";
  ExplainInputs inputs = problem.inputs(best, 14);
  inputs.plans.push_back({.name = "engine", .cover = &whole, .median_ns = 12, .is_rival = true, .is_single = true});
  inputs.shipped = 1;
  const Explanation explanation = explain_cover(inputs);
  EXPECT_EQ(explanation.plan, "engine");
  EXPECT_EQ(explanation.cover, "cover");
  EXPECT_EQ(story(explanation, 0), "engine/default@12 a/v@10+2 b/v@30");
  EXPECT_EQ(explanation.candidates[explanation.nodes[0].offers[0]].margin_by, MarginBy::kEndToEnd);
  EXPECT_EQ(explanation.apparent_loss_ns, 14 - 12) << "what the guard spared the user";
}

TEST(ExplainCover, TheSameInputsGiveTheSameExplanation) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const PoolProblem problem = PoolProblem::random(seed);
    const Cover best = problem.best()->cover;
    const nlohmann::json object = explanation_to_json(explain_cover(problem.inputs(best)));
    EXPECT_EQ(explanation_to_json(explain_cover(problem.inputs(best))), object);
    EXPECT_EQ(explanation_to_json(explanation_from_json(object, "test").value()), object);
  }
}

TEST(ExplainCover, EveryNodeOfTheBestCoverHasMarginsOfNothingOrMore) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const PoolProblem problem = PoolProblem::random(seed);
    const Cover best = problem.best()->cover;
    const Explanation explanation = explain_cover(problem.inputs(best));
    EXPECT_EQ(explanation.cover_ns, best.cost_ns);
    ASSERT_EQ(explanation.nodes.size(), problem.graph.nodes.size());
    for (const ExplainedNode& node : explanation.nodes) {
      ASSERT_FALSE(node.offers.empty()) << "a and b run every node";
      for (const std::uint32_t c : node.offers) EXPECT_GE(explanation.candidates[c].margin_ns.value_or(0), 0);
    }
  }
}

}  // namespace
}  // namespace collage
