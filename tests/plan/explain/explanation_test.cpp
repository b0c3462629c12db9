#include "plan/explain/explanation.h"

#include "base/json_numbers.h"
#include "plan/file/plan_report_json.h"
#include "tests/plan/explain/explanation_fixture.h"

namespace collage {
namespace {

using nlohmann::json;

TEST(Explanation, ReadsBackWhatItWrites) {
  const auto read = explanation_from_json(explanation_to_json(rich_explanation()), "test");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, rich_explanation());
  EXPECT_EQ(explanation_from_json(explanation_to_json(Explanation()), "test").value(), Explanation());
}

TEST(Explanation, TakesAShareThatIsNoNumberForOneThatIsNotKnown) {
  json object = explanation_to_json(rich_explanation());
  object["precision"]["predicted_share"] = nullptr;
  object["precision"]["steps"][0]["share"] = nullptr;
  const auto read = explanation_from_json(object, "test");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->precision->predicted_share, std::nullopt);
  EXPECT_EQ(read->precision->steps[0].share, std::nullopt);
}

TEST(Explanation, RefusesRatesThatAreNone) {
  json object = explanation_to_json(rich_explanation());
  object["peak"]["memory_bytes_per_ns"] = 0;
  const auto read = explanation_from_json(object, "test");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "plan/no-explanation");
}

TEST(Explanation, SurvivesThePlanFile) {
  const auto plan = parse_plan(to_json(explained_plan()), "test");
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->report->explanation, rich_explanation());
}

TEST(Explanation, GapsAndLossesAreDifferences) {
  const Explanation explanation = rich_explanation();
  EXPECT_EQ(model_gap_ns(explanation), 100);
  EXPECT_EQ(proven_gap_ns(explanation), 400);
  EXPECT_EQ(additive_error_ns(explanation), 500);
  EXPECT_EQ(optimality_loss_ns(explanation), 900);
  EXPECT_EQ(additive_error_ns(Explanation()), std::nullopt);
}

TEST(Explanation, RunnerUpIsTheFirstOfferElseWhatWasNeverMeasured) {
  const Explanation explanation = rich_explanation();
  EXPECT_EQ(runner_up_of(explanation, explanation.nodes[0]), &explanation.candidates[1]);
  EXPECT_EQ(runner_up_of(explanation, explanation.nodes[3]), &explanation.candidates[4]);
  EXPECT_EQ(runner_up_of(explanation, explanation.nodes[4]), nullptr);
}

TEST(Explanation, SetsOfNodesAreRanges) {
  Explanation explanation;
  for (std::uint32_t n = 0; n < 1000; ++n) explanation.nodes.push_back({.name = std::to_string(n), .chosen = 0});
  explanation.candidates.push_back({.backend = "a", .variant = "b", .nodes = {}, .cost_ns = 1});
  for (std::uint32_t n = 0; n < 1000; ++n)
    if (n != 500 && n != 502) explanation.candidates[0].nodes.push_back(n);
  const json object = explanation_to_json(explanation);
  EXPECT_EQ(object["candidates"][0]["nodes"], "0-499,501,503-999");
  EXPECT_EQ(explanation_from_json(object, "test").value(), explanation);
}

TEST(Explanation, NeverTakesWhatItCannotRefer) {
  const json whole = explanation_to_json(rich_explanation());
  const std::vector<json> strange = {nullptr,        -1,   1e300,  "text",        json::array(), json::object(),
                                     "0-4294967295", true, "1,,2", 4000000000ULL, "9-1"};
  const json flat = whole.flatten();
  for (const auto& [path, value] : flat.items())
    for (const json& replacement : strange) {
      json object = whole;
      object[json::json_pointer(path)] = replacement;
      const auto read = explanation_from_json(object, "test");
      if (!read) {
        EXPECT_EQ(read.error().code, "plan/no-explanation") << path;
        continue;
      }
      for (const ExplainedNode& node : read->nodes) {
        EXPECT_LT(node.chosen, read->candidates.size()) << path << " " << replacement;
        for (const std::uint32_t c : node.offers) EXPECT_LT(c, read->candidates.size()) << path << " " << replacement;
      }
    }
  EXPECT_FALSE(explanation_from_json(json::array({1}), "test"));
}

}  // namespace
}  // namespace collage
