#include "plan/explain.h"

#include <nlohmann/json.hpp>

#include "plan_fixture.h"

namespace collage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Plan explained_plan() {
  Plan plan = rich_sketch().realise().value().plan;
  plan.report_json = R"({"rivals":{"slow engine":9.5,"quick engine":2.25},"refusals":{"a":{"other":"type: f32[3,7]"}},)"
                     R"("search":{"measured_us":1.5,"model_bound_us":0.5}})";
  return plan;
}

TEST(Explain, ShowsEveryStepInOrder) {
  EXPECT_EQ(explain_as_text(explained_plan()).value(),
            R"(models/x.onnx: 10 steps, shipped cover, 1 thread
steps timed alone add up to 0.6 us; the whole took 1.5 us; no cover of these candidates adds up to less than 0.5 us
 step         us  share  who                          runner-up                        nodes
    0        0.1  16.7%  fake/direct                  other/direct +12%                a
    1        0.0   0.0%  host                         -                                a: channels_last to plain
    2        0.1  16.7%  nobody: the same bytes       other/direct +12%                v
    3        0.1  16.7%  fake/direct                  other/direct +12%                c
    4        0.1  16.7%  fake/direct                  other/direct +12%                d
    5        0.1  16.7%  fake/direct                  other/direct +12%                e
    6        0.1  16.7%  fake/direct                  other/direct +12%                dynamic
    7        0.0   0.0%  host/copy                    -                                e: copied
    8        0.0   0.0%  host/copy                    -                                x: copied
    9        0.0   0.0%  host/copy                    -                                b: copied
other plans, timed end to end
         2.2 us  quick engine
         9.5 us  slow engine
)");
}

TEST(Explain, OfANodeShowsItsStepAndWhoRefused) {
  const std::string text = explain_as_text(explained_plan(), "a").value();
  EXPECT_THAT(text, HasSubstr("fake/direct"));
  EXPECT_THAT(text, HasSubstr("other refused it alone: type: f32[3,7]"));
  EXPECT_THAT(text, Not(HasSubstr("    3 ")));
}

TEST(Explain, JsonHasTheDocumentedKeys) {
  const auto all = nlohmann::json::parse(explain_as_json(explained_plan()).value());
  EXPECT_EQ(all["schema"], "collage.explain/1");
  EXPECT_EQ(all["model"], "models/x.onnx");
  EXPECT_EQ(all["rivals"]["quick engine"], 2.25);
  EXPECT_EQ(all["search"]["model_bound_us"], 0.5);
  EXPECT_EQ(all["steps"].size(), explained_plan().steps.size());
  EXPECT_EQ(all["steps"][1]["kind"], "convert");
  EXPECT_EQ(all["steps"][1]["inputs"][0]["format"], "channels_last");
  EXPECT_EQ(all["steps"][0]["cost_high_us"], 0.12);
  const auto one = nlohmann::json::parse(explain_as_json(explained_plan(), "d").value());
  EXPECT_EQ(one["steps"].size(), 1U);
  EXPECT_EQ(one["steps"][0]["step"], 4);
}

TEST(Explain, RefusesANodeThatNoStepComputes) {
  const auto text = explain_as_text(explained_plan(), "nothing");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, "plan/no-such-node");
  EXPECT_EQ(explain_as_json(explained_plan(), "nothing").error().code, "plan/no-such-node");
}

TEST(Explain, ManagesWithoutAReport) {
  for (const char* report : {"{}", R"({"search":3,"rivals":[],"refusals":{"a":7}})"}) {
    Plan plan = explained_plan();
    plan.report_json = report;
    EXPECT_TRUE(explain_as_text(plan));
    EXPECT_TRUE(explain_as_text(plan, "a"));
    EXPECT_TRUE(explain_as_json(plan, "a"));
  }
}

}  // namespace
}  // namespace collage
