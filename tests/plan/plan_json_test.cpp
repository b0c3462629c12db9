#include "plan/plan_json.h"

#include <nlohmann/json.hpp>

#include "plan_fixture.h"

namespace collage {
namespace {

using nlohmann::json;

Plan rich_plan() { return rich_sketch().realise().value().plan; }

TEST(PlanJson, ReadsBackWhatItWrites) {
  const Plan plan = rich_plan();
  const auto read = parse_plan(to_json(plan), "test");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, plan);
}

TEST(PlanJson, HasTheDocumentedKeys) {
  const json object = json::parse(to_json(rich_plan()));
  EXPECT_EQ(object["schema"], "collage.plan/1");
  EXPECT_EQ(object["model"]["path"], "models/x.onnx");
  EXPECT_EQ(object["search"]["gap"], 0);
  EXPECT_EQ(object["backends"][0]["build"], "b1");
  EXPECT_EQ(object["values"][0]["shape"], json({1, 16, 4, 4}));
  EXPECT_EQ(object["steps"][0]["kind"], "kernel");
  EXPECT_EQ(object["steps"][0]["cost_ns"]["high"], 120);
  EXPECT_EQ(object["steps"][0]["runner_up"], "other/direct +12%");
  EXPECT_EQ(object["constants"].size(), 2U);
  EXPECT_GT(object["memory"]["arena_bytes"], 0);
}

TEST(PlanJson, RefusesAnotherSchema) {
  json object = json::parse(to_json(rich_plan()));
  object["schema"] = "collage.plan/2";
  const auto read = parse_plan(object.dump(), "test");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "plan/wrong-version");
  EXPECT_EQ(read.error().exit, ExitCode::kBadInput);
}

TEST(PlanJson, RefusesAMissingKeyAtAnyDepth) {
  const json whole = json::parse(to_json(rich_plan()));
  std::size_t tried = 0;
  const auto flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    const json::json_pointer pointer(path);
    json object = whole;
    json& parent = object[pointer.parent_pointer()];
    // Entries of shapes, ports and the free-form parts may go without harm to the structure.
    if (parent.is_array() || path.starts_with("/shapes") || path.starts_with("/search") || path.ends_with("/id"))
      continue;
    if (path.starts_with("/constants")) continue;
    parent.erase(pointer.back());
    const auto read = parse_plan(object.dump(), "test");
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, "plan/damaged") << path;
    ++tried;
  }
  EXPECT_GT(tried, 100U);
}

TEST(PlanJson, NeverCrashesOnWrongTypesNumbersAndCuts) {
  const json whole = json::parse(to_json(rich_plan()));
  const std::vector<json> strange = {nullptr, -1, 1e300, "text", json::array(), json::object(), 18446744073709551615ULL,
                                     true,    7};
  const json flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (const json& replacement : strange) {
      json object = whole;
      object[json::json_pointer(path)] = replacement;
      const auto read = parse_plan(object.dump(), "test");
      if (read) continue;
      EXPECT_THAT(read.error().code, testing::AnyOf("plan/damaged", "plan/wrong-version")) << path;
    }
  }
  const std::string text = to_json(rich_plan());
  for (std::size_t cut = 0; cut + 2 < text.size(); cut += 13) EXPECT_FALSE(parse_plan(text.substr(0, cut), "test"));
}

TEST(PlanJson, RefusesPlansThatWouldReadOrWriteOutsideTheirMemory) {
  const auto broken = [](auto change) {
    Plan plan = rich_plan();
    change(plan);
    return parse_plan(to_json(plan), "test");
  };
  EXPECT_FALSE(broken([](Plan& plan) { plan.arena_bytes = 64; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.weights_bytes = 64; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.values[0].bytes = 8; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.steps[0].inputs[0] = 1000; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.steps[0].inputs[0] = plan.steps.back().outputs[0]; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.steps[0].outputs[0] = plan.inputs[0]; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.steps[0].workspace_bytes = 1 << 20; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.outputs[0] = plan.inputs[0]; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.artifacts.pop_back(); }));
  EXPECT_TRUE(broken([](Plan&) {}));
}

}  // namespace
}  // namespace collage
