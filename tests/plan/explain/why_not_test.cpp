#include "plan/explain/why_not.h"

#include "base/json_numbers.h"
#include "tests/plan/explain/explanation_fixture.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

std::string answer(const std::string& question, const Plan& plan = explained_plan()) {
  const auto parsed = parse_why_not(plan, question);
  if (!parsed) return parsed.error().code;
  return why_not_as_text(plan, *parsed).value_or("error");
}

std::string verdict(const std::string& question, const Plan& plan = explained_plan()) {
  const auto parsed = parse_why_not(plan, question);
  if (!parsed) return parsed.error().code;
  return nlohmann::json::parse(why_not_as_json(plan, *parsed).value())["verdict"];
}

TEST(WhyNot, WhoRunsItRunsIt) {
  EXPECT_EQ(verdict("a=fake"), "runs");
  EXPECT_EQ(answer("a=fake"), "a: fake runs it (fake/direct on 1 node, 0.1 us)\n");
}

TEST(WhyNot, AnOfferNamesItsCostAndItsMargin) {
  EXPECT_EQ(verdict("a=other"), "dearer");
  EXPECT_EQ(answer("a=other"),
            "other does not run a: dearer: its best offer is other/direct on 3 nodes, 0.1 us; put in its place the "
            "cover costs 0.0 us more\n  chosen: fake/direct on 1 node, 0.1 us\n");
  const Plan plan = explained_plan();
  const auto told = nlohmann::json::parse(why_not_as_json(plan, parse_why_not(plan, "a=other").value()).value());
  EXPECT_EQ(told["schema"], "collage.why-not/1");
  EXPECT_EQ(told["offer"]["margin_us"], 0.034);
  EXPECT_EQ(told["offer"]["margin_by"], "exchange");
  EXPECT_EQ(told["chosen"]["backend"], "fake");
}

TEST(WhyNot, AnOfferThatIsCheaperAloneSaysSo) {
  EXPECT_EQ(verdict("c=test"), "cheaper-alone") << "a kind means its instances";
  EXPECT_EQ(verdict("c=test:opt=1"), "cheaper-alone");
}

TEST(WhyNot, WhatWasNeverMeasuredSaysWhyAndWhatIsKnown) {
  EXPECT_EQ(verdict("e=test"), "unmeasured");
  EXPECT_THAT(answer("e=test"), HasSubstr("the budget ran out"));
  EXPECT_THAT(answer("e=test"), HasSubstr("could be up to 0.1 us cheaper"));
}

TEST(WhyNot, RefusalsAreToldWithTheirReason) {
  EXPECT_EQ(verdict("e=far"), "refused");
  EXPECT_THAT(answer("e=far"), HasSubstr("far refused it alone: type: f32[3,7]"));
  EXPECT_THAT(answer("e=far"), HasSubstr("far/quick refused it among 3 nodes: crashed"));
}

TEST(WhyNot, TheUsersWordComesBeforeAllElse) {
  EXPECT_EQ(verdict("d=other"), "pinned");
  EXPECT_EQ(verdict("e=other"), "banned");
  EXPECT_THAT(answer("d=other"), HasSubstr("--pin d*=fake names the node"));
}

TEST(WhyNot, ABackendThatTookNoPartSaysWhy) {
  EXPECT_EQ(verdict("a=gone"), "absent");
  EXPECT_EQ(verdict("a=filler"), "fills");
  EXPECT_EQ(verdict("a=never heard of"), "plan/no-such-backend");
  const std::vector<std::string> kinds = {"remote"};
  const Plan plan = explained_plan();
  const auto known = parse_why_not(plan, "a=remote", kinds);
  ASSERT_TRUE(known);
  EXPECT_THAT(why_not_as_text(plan, *known).value(), HasSubstr("not-asked: --backends were fake,other"));
  EXPECT_EQ(verdict("a=far"), "no-offer");
  EXPECT_THAT(answer("a=far"), HasSubstr("operators(Conv|Gemm)")) << "the rules by which it was asked";
  Explanation only = rich_explanation();
  only.only = "fake";
  only.backends = {"fake"};
  EXPECT_EQ(verdict("dynamic=far", explained_plan(only)), "only");
}

TEST(WhyNot, ALineOfTheUsersRulesIsNamed) {
  EXPECT_EQ(verdict("c=other"), "ruled");
  EXPECT_THAT(answer("c=other"), HasSubstr("r.txt:3 (fuse fake block: c d e) makes the node part of one step of fake"));
  EXPECT_EQ(verdict("d=other"), "pinned") << "a pin is nearer";
}

TEST(WhyNot, TyposAreErrorsWithASuggestion) {
  const auto backend = parse_why_not(explained_plan(), "a=ohter");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, "plan/no-such-backend");
  EXPECT_EQ(backend.error().exit, ExitCode::kUsage);
  EXPECT_THAT(backend.error().saw, HasSubstr("did you mean other?"));
  const auto node = parse_why_not(explained_plan(), "dynamik=other");
  ASSERT_FALSE(node);
  EXPECT_THAT(node.error().saw, HasSubstr("did you mean dynamic?"));
}

TEST(WhyNot, ANodeOnlyTheUsersFileHasIsNotInTheGraphThatWasAskedAbout) {
  Plan plan = explained_plan();
  nodes_in(plan.steps[0])->names.push_back("dropped=out");
  EXPECT_EQ(verdict("dropped=out=other", plan), "simplified");
  EXPECT_EQ(verdict("dropped=out=fake", plan), "runs");
}

TEST(WhyNot, QuestionsAreSplitAtANodeOfThePlan) {
  Explanation explanation = rich_explanation();
  explanation.nodes[0].name = "a=b";
  const Plan plan = explained_plan(explanation);
  EXPECT_EQ(parse_why_not(plan, "a=b=far:x=1").value().backend, "far:x=1");
  EXPECT_EQ(parse_why_not(plan, "nobody=far").error().code, "plan/no-such-node");
  for (const char* wrong : {"a", "", "=far", "a="})
    EXPECT_EQ(parse_why_not(plan, wrong).error().code, "cli/bad-option") << wrong;
}

TEST(WhyNot, APlanWithoutExplanationSaysSo) {
  Plan plan = explained_plan();
  plan.report.reset();
  EXPECT_EQ(why_not_as_text(plan, {.node = "a", .backend = "other"}).error().code, "plan/no-explanation");
}

}  // namespace
}  // namespace collage
