// Control-flow operators by their bodies: which can be placed, and what their plans look like.
#include "plan/control.h"

#include <functional>
#include <set>

#include "plan/file/plan_file.h"
#include "plan/memory.h"
#include "plan_fixture.h"

namespace collage {
namespace {

using testing::HasSubstr;

Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

std::string refusal_of(const std::string& node, const std::string& head = "%x: f32[4], %n: i64[], %c: bool[]") {
  const Graph graph = graph_of("graph g(" + head + ") -> () {\n  opset ai.onnx 26\n" + node + "\n}\n");
  const auto refusal = refuse_bodies(graph, graph.nodes.back());
  return refusal ? refusal->detail : "";
}

TEST(Bodies, OfKnownShapesCanBePlaced) {
  EXPECT_EQ(refusal_of(R"(%y: f32[4] = If(%c) captures(%x) {else_branch=graph e() -> (%x) { capture %x: f32[4] },
      then_branch=graph t() -> (%w) { constant %w = f32[4]{1.0,2.0,3.0,4.0} }} "if")"),
            "");
  EXPECT_EQ(refusal_of(R"(%y: f32[4] = Loop(%n, %c, %x) {body=graph b(%i: i64[], %d: bool[], %s) -> (%d, %t) {
      %t: f32[4] = Neg(%s) "n" }} "loop")"),
            "")
      << "any number of iterations, and a formal input without a type";
}

TEST(Bodies, OfOpenShapesCanBePlacedWhereRanksAreKnown) {
  EXPECT_EQ(refusal_of(R"(%y: f32[N] = If(%c) captures(%x) {else_branch=graph e() -> (%x) { capture %x: f32[4] },
      then_branch=graph t() -> (%w) { constant %w = f32[1]{1.0} }} "if")"),
            "");
  const std::string growing = R"(%y: f32[RESULT], %z: f32[?,HEIGHT] = Loop(%n, %c, %x) {body=graph b(%i: i64[],
      %d: bool[], %s: f32[?]) -> (%d, %t, %t) { %t: f32[M] = Grow(%s) "n" }} "loop")";
  const auto with = [&](const std::string& result, const std::string& height) {
    std::string text = growing;
    text.replace(text.find("RESULT"), 6, result);
    text.replace(text.find("HEIGHT"), 6, height);
    return text;
  };
  EXPECT_EQ(refusal_of(with("?", "?")), "");
  EXPECT_THAT(refusal_of(with("4", "?")), HasSubstr("s of body b is f32[?] where f32[4] is needed"));
  EXPECT_THAT(refusal_of(with("?,?", "?")), HasSubstr("where f32[?,?] is needed"));
  EXPECT_THAT(refusal_of(with("?", "?,?")), HasSubstr("t of body b is f32[M] where f32[?,?] is needed"));
  EXPECT_THAT(refusal_of(R"(%y: f32[?,4] = Scan(%q) {body=graph b(%s: f32[4]) -> (%s) { }, num_scan_inputs=1,
      scan_output_directions=[1]} "scan")",
                         "%q: f32[?,4]"),
              HasSubstr("from its end"));
}

TEST(Bodies, AreRefusedWithAReason) {
  EXPECT_THAT(refusal_of(R"(%y: f32[4] = Neg(%x) "n")"), HasSubstr("Neg"));
  EXPECT_THAT(refusal_of(R"(%y: f32[*] = If(%c) captures(%x) {else_branch=graph e() -> (%x) { capture %x: f32[4] },
      then_branch=graph t() -> (%w) { constant %w = f32[1,1]{1.0} }} "if")"),
              HasSubstr("y is f32[*]"));
  EXPECT_THAT(refusal_of(R"(%y: f32[4] = If(%c) captures(%x) {else_branch=graph e() -> (%x) { capture %x: f32[4] },
      then_branch=graph t() -> (%w) { constant %w = f32[1]{1.0} }} "if")"),
              HasSubstr("w of body t is f32[1]"));
  const std::string stacking = R"(%y: f32[4], %z: f32[3,4] = Loop(%trips, _, %x) {body=graph b(%i: i64[], %d: bool[],
      %s: f32[4]) -> (%keep, %t, %t) { %keep: bool[] = OP(%d) "k" %t: f32[4] = Neg(%s) "n" }} "loop")";
  const auto with = [&](const std::string& trips, const std::string& op) {
    std::string text = stacking;
    text.replace(text.find("%trips"), 6, trips);
    text.replace(text.find("OP"), 2, op);
    return "constant %three = i64[]{3} constant %four = i64[]{4}\n" + text;
  };
  EXPECT_EQ(refusal_of(with("%three", "Identity")), "");
  EXPECT_THAT(refusal_of(with("%n", "Identity")), HasSubstr("an unknown number of iterations gives f32[3,4]"));
  EXPECT_THAT(refusal_of(with("%three", "Not")), HasSubstr("an unknown number")) << "the condition may turn false";
  EXPECT_THAT(refusal_of(with("%four", "Identity")), HasSubstr("4 iterations give f32[3,4]"));
  EXPECT_THAT(refusal_of(R"(%y: f32[4] = Loop(%n, %c, %x) {body=graph b(%i: i64[], %d: bool[], %s: f32[4]) -> (%d, %t) {
      %t: f32[M] = Grow(%s) "n" }} "loop")"),
              HasSubstr("t of body b is f32[M]"));
  EXPECT_THAT(refusal_of(R"(%y: seq(f32[4]) = Loop(%n, %c, %q) {body=graph b(%i: i64[], %d: bool[], %s: seq(f32[4]))
      -> (%d, %s) { }} "loop")",
                         "%q: seq(f32[4]), %n: i64[], %c: bool[]"),
              HasSubstr("q is seq"));
}

TEST(Bodies, StandAloneWithWhatTheyCapture) {
  const Graph graph = nested_graph();
  const std::vector<Graph> bodies = free_bodies(graph, graph.nodes[0]);
  ASSERT_EQ(bodies.size(), 1U);
  EXPECT_TRUE(verify(bodies[0]));
  std::vector<std::string> inputs;
  for (const ValueId id : bodies[0].inputs) inputs.push_back(bodies[0].value(id).name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"s", "p", "cond"}));
  const std::vector<Graph> branches = free_bodies(bodies[0], bodies[0].nodes[1]);
  ASSERT_EQ(branches.size(), 2U);
  for (const Graph& branch : branches) EXPECT_TRUE(verify(branch));
  EXPECT_EQ(branches[0].inputs.size(), 1U) << "the captured constant is one of the branch";
  EXPECT_EQ(captures_of(bodies[0], bodies[0].nodes[1], 1).size(), 1U);
  EXPECT_EQ(known_trips(graph, graph.nodes[0]), 5);
}

TEST(Bodies, ProveTypesOfResultsThatImportLeftOpen) {
  const auto types_after = [](const std::string& node) {
    Graph graph =
        with_proven_results(graph_of("graph g(%x: f32[4], %n: i64[], %c: bool[]) -> () {\n  opset ai.onnx 26\n"
                                     "constant %three = i64[]{3}\n" +
                                     node + "\n}\n"));
    std::string types;
    for (const ValueId id : graph.nodes.back().outputs) types += to_string(graph.value(id).type) + " ";
    return types;
  };
  const std::string loop = R"(%y: f32[*], %z: f32[?,4] = Loop(TRIPS, _, %x) {body=graph b(%i: i64[], %d: bool[],
      %s: f32[4]) -> (%d, %t, %t) { %t: f32[EXTENT] = Op(%s) "n" }} "loop")";
  const auto with = [&](const std::string& trips, const std::string& extent) {
    std::string text = loop;
    text.replace(text.find("TRIPS"), 5, trips);
    text.replace(text.find("EXTENT"), 6, extent);
    return text;
  };
  EXPECT_EQ(types_after(with("%three", "4")), "f32[4] f32[3,4] ");
  EXPECT_EQ(types_after(with("%n", "4")), "f32[4] f32[?,4] ");
  EXPECT_EQ(types_after(with("%three", "5")), "f32[?] f32[?,4] ") << "the carried value grows";
  const std::string choice = R"(%y: f32[*] = If(%c) captures(%x) {else_branch=graph e() -> (%x) { capture %x: f32[4] },
      then_branch=graph t() -> (%w) { constant %w = f32[COUNT]{1.0,2.0,3.0,4.0} }} "if")";
  std::string equal = choice;
  EXPECT_EQ(types_after(equal.replace(equal.find("COUNT"), 5, "4")), "f32[4] ");
  std::string other = choice;
  EXPECT_EQ(types_after(other.replace(other.find("COUNT"), 5, "2,2")), "f32[*] ");
  std::string longer = choice;
  longer.replace(longer.find("COUNT"), 5, "5").replace(longer.find("4.0}"), 4, "4.0,5.0}");
  EXPECT_EQ(types_after(longer), "f32[?] ") << "the rank is known";
}

TEST(ControlPlans, HoldEachConstantOnceWhateverTheLevel) {
  const auto plan = realise_nested();
  ASSERT_TRUE(plan) << to_string(plan.error());
  std::set<const void*> bytes;
  for (const auto& [index, tensor] : plan->constants) EXPECT_TRUE(bytes.insert(tensor.data.data()).second);
  EXPECT_EQ(bytes.size(), 3U) << "shared, own, inner";
  EXPECT_EQ(plan->plan.weights_bytes, 3 * 64U);
  EXPECT_TRUE(find_value(plan->plan, "shared", plain()));
  const PlanBody& body = bodies_of(plan->plan.steps[0])[0];
  const PlanBody& branch = bodies_of(body.steps[1])[1];
  const PlanValue& inner = branch.values[find_value(branch, "inner", plain()).value()];
  EXPECT_EQ(body.values[inner.buffer].offset, inner.offset);
  EXPECT_EQ(plan->plan.values[body.values[inner.buffer].buffer].offset, inner.offset);
}

TEST(ControlPlans, PutTheArenasOfBodiesIntoTheirStepsWorkspace) {
  const Plan plan = realise_nested().value().plan;
  const auto& scan = std::get<PlanControl>(plan.steps[0].work);
  const PlanBody& body = scan.bodies[0];
  const auto& choice = std::get<PlanControl>(body.steps[1].work);
  EXPECT_GE(scan.workspace.bytes, body.arena_bytes);
  EXPECT_GE(body.arena_bytes, choice.workspace.bytes);
  EXPECT_GE(choice.workspace.bytes, choice.bodies[0].arena_bytes);
  EXPECT_GT(choice.bodies[0].arena_bytes, 0U);
  // No two ports of the body share bytes with each other or with the arena.
  std::vector<std::pair<std::size_t, std::size_t>> parts = {{0, body.arena_bytes}};
  const ControlLayout layout = control_layout(plan, scan);
  const auto add = [&](const std::vector<ControlPort>& ports, const std::vector<PlanIndex>& values) {
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (ports[i].value == kNoValue) parts.emplace_back(ports[i].offset, body.values[values[i]].bytes);
  };
  add(layout.inputs[0], body.inputs);
  add(layout.outputs[0], body.outputs);
  std::ranges::sort(parts);
  for (std::size_t i = 1; i < parts.size(); ++i) EXPECT_LE(parts[i - 1].first + parts[i - 1].second, parts[i].first);
  EXPECT_LE(parts.back().first + parts.back().second, scan.workspace.bytes);
  for (const auto& [offset, bytes] : parts) EXPECT_EQ(offset % kBufferAlignment, 0U);
}

TEST(ControlPlans, CountTheStepsOfBodies) {
  const Graph graph = nested_graph();
  const FakeCover fake(graph);
  EXPECT_EQ(step_count(fake.cover), fake.made.size());
  EXPECT_EQ(step_count(realise_nested().value().plan), fake.made.size() + 1) << "and a copy of p, which is passed on";
}

TEST(ControlPlans, AreTheSameFromAFile) {
  const Folder folder;
  auto plan = realise_nested();
  plan->plan = with_checksums(*plan);
  ASSERT_TRUE(save_plan(*plan, folder.file("x.collage")));
  const auto loaded = load_plan(folder.file("x.collage"));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(*loaded, *plan);
}

TEST(ControlPlans, AreNotMadeOfCoversThatDoNotFit) {
  const Graph graph = nested_graph();
  const auto code_after = [&](const std::function<void(FakeCover&)>& change) {
    FakeCover fake(graph);
    change(fake);
    const auto plan = realise_fake(graph, fake);
    return plan ? std::string() : plan.error().code;
  };
  EXPECT_EQ(code_after([](FakeCover&) {}), "");
  EXPECT_EQ(code_after([](FakeCover& fake) { fake.made.pop_back(); }), "plan/bad-cover");
  EXPECT_EQ(code_after([](FakeCover& fake) {
              fake.made.erase(fake.made.begin() + 1);
              Cover& body = std::get<CoverControl>(fake.cover.steps[0].work).bodies[0];
              body.steps.erase(body.steps.begin());
            }),
            "plan/bad-cover")
      << "nobody computes o";
  EXPECT_EQ(code_after([](FakeCover& fake) {
              fake.made.resize(fake.made.size() - 5);
              fake.made.emplace_back(Artifact{});
              std::get<CoverControl>(fake.cover.steps[0].work).bodies.clear();
            }),
            "plan/bad-cover");
}

}  // namespace
}  // namespace collage
