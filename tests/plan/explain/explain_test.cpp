#include "plan/explain/explain.h"

#include "base/json_numbers.h"
#include "tests/plan/explain/explanation_fixture.h"
#include "tests/support/schema_check.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

TEST(Explain, ShowsEveryStepInOrder) {
  EXPECT_EQ(explain_as_text(explained_plan()).value(),
            R"(models/x.onnx: 10 steps, 1 of them views (nothing runs); ships mixed, 1 thread
  measured alone       5 steps          0.5 us
  estimated (~)        1 steps          0.1 us
  launching them       6 steps          0.4 us
  together                              1.0 us
  the whole took                        1.5 us
  0.002 MFLOP as the operators are defined: 1.3 GFLOP/s, 8 % of the f32 peak
2 steps in 16 bits; the outputs err 25 % of what max=1e-3 allows, on 4 sets of inputs
  (12 % foreseen from the errors of the steps)
 step         us  share  who                        runner-up, below: nodes
    0        0.1  16.7%  fake/direct                other/direct +12%
                         a
                         16 bits (f16): gains 1.2 us alone, 6.2 % of the bound
                         on outputs
    1          -   0.0%  host                       -
                         a: channels_last to plain
    2        0.1  16.7%  nobody: the same bytes     other/direct +12%
                         v
    3        0.1  16.7%  fake/direct                other/direct +12%
                         c
    4        0.1  16.7%  fake/direct                other/direct +12%
                         d
                         16 bits (bf16)
    5        0.1  16.7%  fake/direct                other/direct +12%
                         e
    6        0.1  16.7%  fake/direct                other/direct +12%
                         dynamic
    7          -   0.0%  host/copy                  -
                         e: copied
    8          -   0.0%  host/copy                  -
                         x: copied
    9          -   0.0%  host/copy                  -
                         b: copied
other plans, timed end to end; how many times faster this one is
         2.2 us                      quick alone
         9.5 us  6.50x [6.25, 7.00]  slow engine as a whole
plan "mixed" adds up to 1.0 us; no mix of these candidates to less than 0.9 us
  model gap, to the best cover under what was measured:   0.1 us (10.0 %)
  proven gap, whatever was not measured:                  0.4 us (40.0 %)
  additive_error, measured end to end less that sum:       0.5 us
  apparent_loss, against quick engine: -0.2 us
  optimality_loss, against any cover:           at most 0.9 us
the next best covers that differ in more than copies of one block, against "mixed"
        -0.0 us  1 node changes hands: 1 to test:opt=1/fast
        +0.2 us  3 nodes change hands: 0-4 to other/direct, 1 to test:opt=1/fast
)");
}

TEST(Explain, OfANodeShowsItsStepWhatOthersOfferedAndWhoRefused) {
  EXPECT_EQ(explain_as_text(explained_plan(), "e").value(),
            R"(models/x.onnx: 10 steps, 1 of them views (nothing runs); ships mixed, 1 thread
  measured alone       5 steps          0.5 us
  estimated (~)        1 steps          0.1 us
  launching them       6 steps          0.4 us
  together                              1.0 us
  the whole took                        1.5 us
  0.002 MFLOP as the operators are defined: 1.3 GFLOP/s, 8 % of the f32 peak
2 steps in 16 bits; the outputs err 25 % of what max=1e-3 allows, on 4 sets of inputs
  (12 % foreseen from the errors of the steps)
 step         us  share  who                        runner-up, below: nodes
    5        0.1  16.7%  fake/direct                other/direct +12%
                         e
e
  runs       fake/direct on 4 nodes, 0.4 us
  unmeasured test:opt=1/slow on 1 node, at least 0.0 us; never measured; a cover with it could be up to 0.1 us cheaper
             because the budget ran out before its turn
  far refused it alone: type: f32[3,7]
  far/quick refused it among 3 nodes: crashed
  named by --ban ?=other
)");
  EXPECT_THAT(explain_as_text(explained_plan(), "c").value(),
              HasSubstr("test:opt=1/fast on 1 node, about 0.0 us; the best plan with it took 0.0 us less end to end"));
}

TEST(Explain, JsonHasTheDocumentedKeys) {
  const auto all = nlohmann::json::parse(explain_as_json(explained_plan()).value());
  EXPECT_EQ(all["schema"], "collage.explain/1");
  EXPECT_EQ(all["model"], "models/x.onnx");
  EXPECT_EQ(all["rivals"]["quick engine"], 2.25);
  EXPECT_EQ(all["search"]["model_bound_us"], 0.5);
  EXPECT_EQ(all["plans"][0]["name"], "quick alone");
  EXPECT_EQ(all["step_count"], 10);
  EXPECT_EQ(all["view_count"], 1);
  std::size_t steps = 0;
  for (const auto& [name, count] : all["step_backends"].items()) steps += count.get<std::size_t>();
  EXPECT_EQ(steps, 10U) << "every step is somebody's";
  const auto& sums = all["sums"];
  EXPECT_EQ(sums["measured_us"].get<double>() + sums["estimated_us"].get<double>() + sums["launch_us"].get<double>(),
            sums["total_us"].get<double>());
  EXPECT_EQ(sums["total_us"], all["gaps"]["cover_us"]);
  EXPECT_EQ(all["steps"].size(), explained_plan().steps.size());
  EXPECT_EQ(all["steps"][1]["kind"], "convert");
  EXPECT_EQ(all["steps"][1]["inputs"][0]["format"], "channels_last");
  EXPECT_EQ(all["steps"][0]["cost_high_us"], 0.12);
  const auto one = nlohmann::json::parse(explain_as_json(explained_plan(), "d").value());
  EXPECT_EQ(one["steps"].size(), 1U);
  EXPECT_EQ(one["steps"][0]["step"], 4);
  EXPECT_EQ(one["nodes"].size(), 1U);
  EXPECT_EQ(one["nodes"][0]["rules"][0], "--pin d*=fake");
}

TEST(Explain, JsonTellsOfEveryNodeWhatIsKnown) {
  const auto all = nlohmann::json::parse(explain_as_json(explained_plan()).value());
  ASSERT_EQ(all["nodes"].size(), 5U);
  EXPECT_EQ(all["nodes"][0]["chosen"]["cost_us"], 0.1);
  EXPECT_EQ(all["nodes"][0]["runner_up"]["margin_us"], 0.034);
  EXPECT_EQ(all["nodes"][3]["runner_up"]["at_least_us"], -0.06) << "a bound where it was never measured";
  EXPECT_EQ(all["nodes"][3]["unmeasured"][0]["why"], "the budget ran out before its turn");
  EXPECT_EQ(all["nodes"][3]["refusals"][1]["reason"], "crashed");
  EXPECT_EQ(all["nodes"][4]["runner_up"], nullptr);
  EXPECT_EQ(all["gaps"]["model_gap"]["share"], 0.1);
  EXPECT_EQ(all["losses"]["additive_error"]["us"], 0.5);
  EXPECT_EQ(all["losses"]["apparent_loss"]["against"], "quick engine");
  EXPECT_EQ(all["losses"]["optimality_loss"]["at_most_us"], 0.9);
  EXPECT_EQ(all["refusals"]["e"]["far"], "type: f32[3,7]");
}

TEST(Explain, JsonTellsOfTheNextBestCovers) {
  const auto all = nlohmann::json::parse(explain_as_json(explained_plan()).value())["alternatives"];
  EXPECT_EQ(all["complete"], true);
  EXPECT_EQ(all["why_none"], "");
  ASSERT_EQ(all["covers"].size(), 2U);
  EXPECT_EQ(all["covers"][0]["more_us"], -0.01) << "it lost end to end";
  EXPECT_EQ(all["covers"][1]["cost_us"], 1.234);
  EXPECT_EQ(all["covers"][1]["changed_nodes"], 3);
  EXPECT_EQ(all["covers"][1]["steps"][0]["positions"], "2-4");
  EXPECT_EQ(all["covers"][1]["steps"][0]["backend"], "other");
  Explanation without = rich_explanation();
  without.alternatives.clear();
  without.why_no_alternatives = "nobody asked";
  EXPECT_THAT(explain_as_text(explained_plan(without)).value(),
              HasSubstr("other covers were not searched: nobody asked\n"));
  without.why_no_alternatives = "";
  without.alternatives = rich_explanation().alternatives;
  without.alternatives_complete = false;
  EXPECT_THAT(explain_as_text(explained_plan(without)).value(), HasSubstr("good covers that differ"));
}

TEST(Explain, SaysWhichNodesOfAStepOthersRunToo) {
  Explanation explanation = rich_explanation();
  explanation.nodes[4].chosen = 5;
  EXPECT_THAT(explain_as_text(explained_plan(explanation), "dynamic").value(),
              HasSubstr("other/direct on 3 nodes, 1 of them run by other steps too, 0.3 us"));
  const auto json = nlohmann::json::parse(explain_as_json(explained_plan(explanation)).value());
  EXPECT_EQ(json["nodes"][4]["chosen"]["repeated_count"], 1);
  EXPECT_EQ(test::SchemaCheck(test::published_schema("explain.schema.json")).problem(json), "");
}

TEST(Explain, JsonTellsWhatStepsInSixteenBitsGainAndErr) {
  const auto json = nlohmann::json::parse(explain_as_json(explained_plan()).value());
  EXPECT_EQ(json["precision"], nlohmann::json::parse(R"({"bound": "max=1e-3", "bound_share": 0.25, "input_sets": 4,
                                                         "narrow_steps": 2, "predicted_bound_share": 0.125})"));
  EXPECT_EQ(json["steps"][0]["precision"],
            nlohmann::json::parse(R"({"element": "f16", "gain_us": 1.2, "bound_share": 0.0625})"));
  EXPECT_FALSE(json["steps"][1].contains("precision"));
  EXPECT_TRUE(nlohmann::json::parse(explain_as_json(explained_plan(Explanation())).value())["precision"].is_null());
}

TEST(Explain, JsonFollowsThePublishedSchema) {
  const auto schema = test::published_schema("explain.schema.json");
  ASSERT_TRUE(schema.is_object());
  const test::SchemaCheck check(schema);
  Plan silent = explained_plan();
  silent.report.reset();
  for (const Plan& plan : {explained_plan(), explained_plan(Explanation()), silent}) {
    auto json = nlohmann::json::parse(explain_as_json(plan).value());
    EXPECT_EQ(check.problem(json), "");
    json["steps"][0]["cost"] = 1;
    EXPECT_THAT(check.problem(json), HasSubstr("[steps][0]: Object contains a property"));
    json["steps"] = 3;
    EXPECT_THAT(check.problem(json), HasSubstr("[steps]: Value type"));
    json.erase("threads");
    EXPECT_THAT(check.problem(json), HasSubstr("Missing required property 'threads'"));
  }
}

TEST(Explain, MarksStepsThatWereNeverTimed) {
  Plan plan = explained_plan();
  plan.steps[0].is_estimated = true;
  EXPECT_THAT(explain_as_text(plan).value(), HasSubstr("    0       ~0.1  16.7%  fake/direct"));
  const auto json = nlohmann::json::parse(explain_as_json(plan).value());
  EXPECT_EQ(json["steps"][0]["estimated"], true);
  EXPECT_EQ(json["steps"][3]["estimated"], false);
}

TEST(Explain, TakesAGlobOfNodes) {
  const auto json = nlohmann::json::parse(explain_as_json(explained_plan(), "[de]").value());
  ASSERT_EQ(json["nodes"].size(), 2U);
  EXPECT_EQ(json["nodes"][0]["node"], "d");
  EXPECT_EQ(json["steps"].size(), 2U);
  const std::string text = explain_as_text(explained_plan(), "d*").value();
  EXPECT_THAT(text, HasSubstr("\nd\n  runs"));
  EXPECT_THAT(text, HasSubstr("\ndynamic\n  runs"));
}

TEST(Explain, SuggestsTheNodeThatWasMeant) {
  const auto text = explain_as_text(explained_plan(), "dinamic");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().saw, HasSubstr("did you mean dynamic?"));
}

TEST(Explain, RefusesANodeThatNoStepComputes) {
  const auto text = explain_as_text(explained_plan(), "nothing");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, "plan/no-such-node");
  EXPECT_EQ(explain_as_json(explained_plan(), "nothing").error().code, "plan/no-such-node");
}

TEST(Explain, ManagesWithoutAReport) {
  const auto whole = nlohmann::json::parse(to_json(explained_plan()));
  for (const char* report : {"{}", R"({"search":3,"rivals":[],"explanation":{"nodes":7}})"}) {
    auto damaged = whole;
    for (const char* key : {"search", "rivals", "plans", "explanation"}) damaged.erase(key);
    damaged.update(nlohmann::json::parse(report));
    const Plan plan = parse_plan(damaged.dump(), "test").value();
    EXPECT_TRUE(explain_as_text(plan));
    EXPECT_TRUE(explain_as_text(plan, "a"));
    EXPECT_TRUE(explain_as_json(plan, "a"));
  }
}

}  // namespace
}  // namespace collage
