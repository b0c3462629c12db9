#include "plan/file/plan_json.h"

#include "base/json_numbers.h"
#include "tests/plan/plan_fixture.h"

namespace collage {
namespace {

using nlohmann::json;

Plan rich_plan() { return rich_sketch().realise().value().plan; }
Plan control_plan() { return realise_nested().value().plan; }
std::vector<Plan> plans() { return {rich_plan(), control_plan()}; }

TEST(PlanJson, ReadsBackWhatItWrites) {
  for (const Plan& plan : plans()) {
    const auto read = parse_plan(to_json(plan), "test");
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(*read, plan);
  }
}

TEST(PlanJson, HasTheDocumentedKeys) {
  const json object = json::parse(to_json(rich_plan()));
  EXPECT_EQ(object["schema"], "collage.plan/1");
  EXPECT_EQ(object["model"]["path"], "models/x.onnx");
  EXPECT_EQ(object["search"]["measured_us"], 3.5);
  EXPECT_EQ(object["backends"][0]["build"], "b1");
  EXPECT_EQ(object["values"][0]["shape"], json({1, 16, 4, 4}));
  EXPECT_EQ(object["steps"][0]["kind"], "kernel");
  EXPECT_EQ(object["steps"][0]["cost_ns"]["high"], 120);
  EXPECT_EQ(object["steps"][0]["runner_up"], "other/direct +12%");
  EXPECT_EQ(object["constants"].size(), 2U);
  EXPECT_GT(object["memory"]["arena_bytes"], 0);
}

TEST(PlanJson, HoldsTheStepsOfBodiesInTheirStep) {
  const json object = json::parse(to_json(control_plan()));
  const json& scan = object["steps"][0];
  EXPECT_EQ(scan["kind"], "control");
  EXPECT_EQ(scan["backend"], "bodies");
  EXPECT_EQ(scan["control"]["operator"], "Scan");
  EXPECT_EQ(scan["control"]["scan_outputs"], json::parse(R"([{"axis":1,"reverse":true}])"));
  EXPECT_EQ(scan["control"]["results"][0], nullptr) << "nobody asked for it";
  ASSERT_EQ(scan["bodies"].size(), 1U);
  EXPECT_EQ(scan["bodies"][0]["name"], "body");
  const json& choice = scan["bodies"][0]["steps"][1];
  EXPECT_EQ(choice["control"]["operator"], "If");
  EXPECT_EQ(choice["bodies"][0]["name"], "no");
  EXPECT_EQ(choice["bodies"][1]["name"], "yes");
  EXPECT_FALSE(object["steps"][1].contains("control"));
}

TEST(PlanJson, HoldsWhatIsCheckedBeforeAStep) {
  const Plan plan = checked_plan();
  const auto read = parse_plan(to_json(plan), "test");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, plan);
  const json steps = json::parse(to_json(plan))["steps"];
  EXPECT_EQ(steps[0]["checks"],
            json::parse(R"([{"rule":"range","value":1,"operator":"Gather","node":"pick","ranges":[[-3,2]]}])"));
  ASSERT_EQ(steps[1]["checks"].size(), 2U);
  EXPECT_EQ(steps[1]["checks"][0]["rule"], "non-zero");
  EXPECT_EQ(steps[1]["checks"][1]["rule"], "no-overflow");
  EXPECT_EQ(steps[1]["checks"][1]["dividend"], steps[1]["inputs"][0]);
}

TEST(PlanJson, HoldsWhatSeveralNodesAskAlikeOnce) {
  const Graph graph =
      parse_graph(
          "graph(%x: f32[3], %z: f32[3], %i: i64[2]) -> (%y) { opset ai.onnx 26 %a: f32[2] = Gather(%x, "
          "%i) \"first\" %b: f32[2] = Gather(%z, %i) \"second\" %y: f32[2] = Add(%a, %b) }")
          .value();
  Cover cover;
  const Variant variant{"all", std::vector<Format>(3), std::vector<Format>(1)};
  cover.steps.push_back({.backend = "fake", .work = CoverKernel{whole_region(graph, uses_of(graph)), variant}});
  const Artifact artifact{.bytes = "artifact", .compatibility = "fake/1"};
  RealiseRequest request{.graph = &graph, .cover = &cover, .artifacts = {&artifact}};
  const auto realised = realise(request);
  ASSERT_TRUE(realised) << to_string(realised.error());
  ASSERT_EQ(checks_of(realised->plan.steps[0]).size(), 1U);
  EXPECT_EQ(checks_of(realised->plan.steps[0])[0].node, "first");
}

TEST(PlanJson, RefusesChecksThatCannotBeMade) {
  const json whole = json::parse(to_json(checked_plan()));
  const auto code_with = [&](const std::string& key, const json& value) {
    json object = whole;
    object["steps"][0]["checks"][0][key] = value;
    const auto read = parse_plan(object.dump(), "test");
    return read ? "" : read.error().code;
  };
  EXPECT_EQ(code_with("value", 999), "plan/damaged");
  EXPECT_EQ(code_with("value", 2), "plan/damaged") << "the step does not read it";
  EXPECT_EQ(code_with("rule", "odd"), "plan/damaged");
  EXPECT_EQ(code_with("rule", "non-zero"), "plan/damaged") << "it has no ranges";
  EXPECT_EQ(code_with("ranges", json::array()), "plan/damaged");
  EXPECT_EQ(code_with("ranges", json::parse("[[1]]")), "plan/damaged");
  EXPECT_EQ(code_with("rule", "no-overflow"), "plan/damaged") << "it has no dividend";
  EXPECT_EQ(code_with("ranges", json::parse("[[0,1]]")), "");
}

TEST(PlanJson, RefusesAnotherSchema) {
  json object = json::parse(to_json(rich_plan()));
  object["schema"] = "collage.plan/3";
  const auto read = parse_plan(object.dump(), "test");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "plan/wrong-version");
  EXPECT_EQ(read.error().exit, ExitCode::kBadInput);
}

TEST(PlanJson, RefusesThreadsThatNobodyHas) {
  for (const json& threads : {json(0), json(-1), json(1025), json(1 << 30), json(1.5), json(1e300)}) {
    json object = json::parse(to_json(rich_plan()));
    object["threads"] = threads;
    EXPECT_FALSE(parse_plan(object.dump(), "test")) << threads;
  }
}

TEST(PlanJson, RefusesAMissingKeyAtAnyDepth) {
  for (const Plan& plan : plans()) {
    const json whole = json::parse(to_json(plan));
    std::size_t tried = 0;
    const auto flat = whole.flatten();
    for (const auto& [path, value] : flat.items()) {
      const json::json_pointer pointer(path);
      json object = whole;
      json& parent = object[pointer.parent_pointer()];
      // Entries of shapes, ports and the free-form parts may go without harm to the structure.
      if (parent.is_array() || path.starts_with("/shapes") || path.starts_with("/search") ||
          path.starts_with("/plans") || path.starts_with("/rivals") || path.ends_with("/id"))
        continue;
      if (path.ends_with("/constants")) continue;
      parent.erase(pointer.back());
      const auto read = parse_plan(object.dump(), "test");
      ASSERT_FALSE(read) << path;
      EXPECT_EQ(read.error().code, "plan/damaged") << path;
      ++tried;
    }
    EXPECT_GT(tried, 100U);
  }
}

TEST(PlanJson, NeverCrashesOnWrongTypesNumbersAndCuts) {
  const std::vector<json> strange = {nullptr, -1, 1e300, "text", json::array(), json::object(), 18446744073709551615ULL,
                                     true,    7};
  for (const Plan& plan : plans()) {
    const std::string text = to_json(plan);
    const json whole = json::parse(text);
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
    for (std::size_t cut = 0; cut + 2 < text.size(); cut += 13) EXPECT_FALSE(parse_plan(text.substr(0, cut), "test"));
  }
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
  EXPECT_FALSE(broken([](Plan& plan) { workspace_in(plan.steps[0])->bytes = 1 << 20; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.outputs[0] = plan.inputs[0]; }));
  EXPECT_FALSE(broken([](Plan& plan) { plan.artifacts.pop_back(); }));
  EXPECT_TRUE(broken([](Plan&) {}));
}

PlanControl& control_in(PlanStep& step) { return std::get<PlanControl>(step.work); }

TEST(PlanJson, RefusesBodiesThatWouldReadOrWriteOutsideTheirMemory) {
  const auto is_refused = [](auto change) {
    Plan plan = control_plan();
    PlanStep& scan = plan.steps[0];
    change(plan, scan, control_in(scan).bodies[0]);
    const auto read = parse_plan(to_json(plan), "test");
    EXPECT_EQ(read ? "plan/damaged" : read.error().code, "plan/damaged");
    return !read;
  };
  EXPECT_FALSE(is_refused([](Plan&, PlanStep&, PlanBody&) {}));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).workspace.bytes -= 64; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.arena_bytes -= 64; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.arena_bytes = std::size_t{1} << 62; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.arena_bytes = ~std::size_t{63}; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.captures[0] = 1000; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody& body) { body.captures[0] = scan.outputs[0]; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.captures.pop_back(); }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.inputs.pop_back(); }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.inputs[0] = 1000; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.outputs[1] = 1000; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) {
    PlanValue& input = body.values[body.inputs[0]];
    input.type = ValueType::tensor(ElementType::kFloat32, {1000});
    input.bytes = 4000;
  })) << "an input larger than what the operator gives";
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) {
    for (PlanValue& value : body.values)
      if (value.storage == Storage::kConstant) value.buffer = 0;
  })) << "a constant that shares bytes with what is none";
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) {
    for (PlanValue& value : body.values)
      if (value.storage == Storage::kConstant) value.offset += 64;
  }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { body.steps[0].inputs[0] = body.outputs[0]; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { artifact_of(body.steps[0])->hash = "absent"; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep&, PlanBody& body) { control_in(body.steps[1]).bodies.pop_back(); }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).form.operands.pop_back(); }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).form.operands[0] = kNoValue; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).form.results.pop_back(); }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).form.scan_inputs.clear(); }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).form.scan_inputs[0].axis = 2; }));
  EXPECT_TRUE(is_refused([](Plan&, PlanStep& scan, PlanBody&) { control_in(scan).form.op = ControlOperator::kLoop; }));
}

/// The code of the error when one member of a step is another; "" when the plan can be read.
std::string code_with(const Plan& plan, std::size_t step, const std::string& key, const json& value) {
  json object = json::parse(to_json(plan));
  object["steps"][step][key] = value;
  const auto read = parse_plan(object.dump(), "test");
  return read ? "" : read.error().code;
}

TEST(PlanJson, RefusesWhatStepsOfAKindDoNotHave) {
  const Plan rich = rich_plan();
  const std::string artifact = artifact_of(rich.steps[0])->hash;
  const json scratch = {{"offset", 0}, {"bytes", 64}};
  ASSERT_EQ(kind_name(rich.steps[1]), "convert");
  EXPECT_EQ(code_with(rich, 1, "nodes", json::array({"a"})), "plan/damaged");
  EXPECT_EQ(code_with(rich, 1, "structure", "abc"), "plan/damaged");
  EXPECT_EQ(code_with(rich, 1, "artifact", ""), "plan/damaged") << "a conversion is a kernel";
  ASSERT_EQ(kind_name(rich.steps[2]), "view");
  EXPECT_EQ(code_with(rich, 2, "nodes", json::array({"a"})), "");
  EXPECT_EQ(code_with(rich, 2, "artifact", artifact), "plan/damaged");
  EXPECT_EQ(code_with(rich, 2, "entry", "f"), "plan/damaged");
  EXPECT_EQ(code_with(rich, 2, "workspace", scratch), "plan/damaged");
  EXPECT_EQ(code_with(rich, 2, "kind", "transfer"), "plan/damaged");
  EXPECT_EQ(code_with(rich, 2, "kind", "odd"), "plan/damaged");
  const Plan nested = control_plan();
  EXPECT_EQ(code_with(nested, 0, "artifact", nested.artifacts.front().hash), "plan/damaged");
  EXPECT_EQ(code_with(nested, 0, "location", "there"), "plan/damaged");
  EXPECT_EQ(code_with(nested, 0, "kind", "kernel"), "plan/damaged") << "without an artifact";
}

TEST(PlanJson, RefusesBodiesWithoutEnd) {
  json object = json::parse(to_json(control_plan()));
  json step = object["steps"][0]["bodies"][0]["steps"][1];
  for (int depth = 0; depth < 200; ++depth) {
    json outer = step;
    outer["bodies"][0]["steps"] = json::array({step});
    step = std::move(outer);
  }
  object["steps"][0] = step;
  const auto read = parse_plan(object.dump(), "test");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "plan/damaged");
}

}  // namespace
}  // namespace collage
