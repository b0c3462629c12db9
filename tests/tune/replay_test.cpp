#include "tune/replay.h"

#include <gmock/gmock.h>

#include "plan/file/plan_file.h"
#include "tests/support/decisions_text.h"
#include "tests/support/session_of.h"
#include "tests/tune/tune_fixture.h"
#include "tune/plan_decisions.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

/// A model, the plan of a tune and what a replay makes of it.
struct ReplayPlace {
  ReplayPlace() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  [[nodiscard]] TuneOptions options(const std::string& output) const {
    TuneOptions made;
    made.model = scratch.file("model.onnx");
    made.output = scratch.file(output);
    made.backends = {"onnxruntime", "test"};
    made.store = "memory:";
    made.budget_s = test::kAmpleBudgetSeconds;
    made.worker_command = test::worker_command();
    return made;
  }

  /// Tunes with one backend and gives the plan.
  Plan tuned(const std::string& only) {
    TuneOptions wanted = options("old.collage");
    wanted.only = only;
    const auto report = tune(wanted, registry);
    EXPECT_TRUE(report) << to_string(report.error());
    return load_plan(wanted.output).value().plan;
  }

  Result<TuneReport> replayed(const std::string& model = "model.onnx") {
    TuneOptions wanted = options("new.collage");
    wanted.model = scratch.file(model);
    wanted.replay = scratch.file("old.collage");
    wanted.backends = {};
    return tune(wanted, registry);
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

class Replay : public ::testing::Test, protected ReplayPlace {
 protected:
  void TearDown() override {
    EXPECT_EQ(scratch.temporaries(), std::vector<std::string>{});
    EXPECT_EQ(scratch.processes(), std::vector<pid_t>{});
  }
};

TEST_F(Replay, GivesTheSameDecisionsAndNumbersWithoutMeasuring) {
  for (const char* only : {"test", "onnxruntime"}) {
    const Plan old = tuned(only);
    const auto report = replayed();
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_EQ(report->measured, 0U);
    EXPECT_EQ(report->shipped, old.shipped);
    const Plan made = load_plan(scratch.file("new.collage")).value().plan;
    EXPECT_EQ(test::decisions_text(made), test::decisions_text(old));
    EXPECT_EQ(made.steps, old.steps);
    EXPECT_EQ(made.report, old.report);
    auto session = test::session_of(scratch.file("new.collage"), registry);
    ASSERT_TRUE(session);
    const Tensor x = test::numbers({6, 16}, 2);
    ASSERT_TRUE(session->set_inputs(std::vector{x}));
    ASSERT_TRUE(session->run());
    EXPECT_NEAR(session->copy_outputs()->at(0).data.as<float>()[7], test::small_graph_output(x)[7], 1e-5);
  }
}

TEST_F(Replay, TakesOtherWeightsOfTheSameGraph) {
  const Plan old = tuned("test");
  Graph graph = test::small_graph();
  float scale = 3;
  for (Value& value : graph.values)
    if (value.constant) value.constant = test::numbers({6, 16}, scale++);
  test::write_model(graph, scratch.file("model.onnx"));
  const auto report = replayed();
  ASSERT_TRUE(report) << to_string(report.error());
  const Plan made = load_plan(scratch.file("new.collage")).value().plan;
  EXPECT_EQ(test::decisions_text(made), test::decisions_text(old));
  EXPECT_NE(made.weights_hash, old.weights_hash);
}

TEST(Acceptance, APlanRoundTripsItsDecisionsAndIsRefusedForAnotherGraph) {
  ReplayPlace place;
  const Plan old = place.tuned("test");
  ASSERT_TRUE(place.replayed());
  const std::string first = test::decisions_text(load_plan(place.scratch.file("new.collage")).value().plan);
  EXPECT_EQ(first, test::decisions_text(old));
  ASSERT_THAT(first, HasSubstr("a_node"));
  // Again from what was replayed.
  std::filesystem::rename(place.scratch.file("new.collage"), place.scratch.file("old.collage"));
  ASSERT_TRUE(place.replayed());
  EXPECT_EQ(test::decisions_text(load_plan(place.scratch.file("new.collage")).value().plan), first);

  // The same names, another operator.
  Graph graph = test::small_graph();
  graph.nodes[2].op_type = "Mul";
  test::write_model(graph, place.scratch.file("other.onnx"));
  std::filesystem::remove(place.scratch.file("new.collage"));
  const auto refused = place.replayed("other.onnx");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "plan/other-graph");
  EXPECT_EQ(refused.error().exit, ExitCode::kBadInput);
  EXPECT_THAT(refused.error().where, HasSubstr("step "));
  EXPECT_FALSE(std::filesystem::exists(place.scratch.file("new.collage")));
}

TEST_F(Replay, PlanThatCannotBeReadIsAnError) { EXPECT_EQ(replayed().error().code, "io/cannot-read"); }

/// A plan of small_graph() with one kernel for each node, without files.
Plan hand_made(const Graph& graph) {
  Plan plan;
  plan.model_path = "old.onnx";
  const Uses uses = uses_of(graph);
  for (const Value& value : graph.values) plan.values.push_back({.name = value.name, .type = value.type});
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    NodeSet nodes(graph.nodes.size());
    nodes.insert(n);
    const Region region = make_region(graph, uses, nodes);
    const StepNodes named{.names = {graph.nodes[n].name}, .structure = structure_key(graph, region)};
    PlanStep step{.backend = "test", .variant = "plain", .work = PlanKernel{.nodes = named}};
    for (const ValueId id : region.inputs) step.inputs.push_back(id.index);
    for (const ValueId id : region.outputs) step.outputs.push_back(id.index);
    plan.steps.push_back(step);
  }
  return plan;
}

Result<std::vector<Candidate>> one_variant(const Graph&, const std::string& backend, const Region& region) {
  const Variant plain{.name = "plain",
                      .input_formats = std::vector<Format>(region.inputs.size()),
                      .output_formats = std::vector<Format>(region.outputs.size())};
  return std::vector<Candidate>{{.backend = backend, .variant = plain}};
}

Error refused(const Plan& plan, const Graph& graph) {
  const auto cover = cover_from_plan(plan, graph, one_variant);
  return cover ? Error{.code = "none"} : cover.error();
}

TEST(CoverFromPlan, ReadsEveryStep) {
  const Graph graph = test::small_graph();
  const auto cover = cover_from_plan(hand_made(graph), graph, one_variant);
  ASSERT_TRUE(cover) << to_string(cover.error());
  ASSERT_EQ(cover->steps.size(), 4U);
  EXPECT_EQ(cover->steps[1].backend, "test");
  EXPECT_EQ(chosen_region(cover->steps[1])->nodes.members(), std::vector<std::size_t>{1});
}

TEST(CoverFromPlan, NamesTheFirstStepThatDoesNotFit) {
  const Graph graph = test::small_graph();
  const Plan plan = hand_made(graph);
  Graph other = graph;
  other.nodes[2].op_type = "Mul";
  EXPECT_EQ(refused(plan, other).code, "plan/other-graph");
  EXPECT_THAT(refused(plan, other).where, HasSubstr("step 2 (test/plain at c_node)"));
  other = graph;
  other.nodes[1].name = "renamed";
  EXPECT_THAT(refused(plan, other).where, HasSubstr("step 1"));
  EXPECT_THAT(refused(plan, other).saw, HasSubstr("no node b_node"));
  other = graph;
  other.value(graph.nodes[2].outputs[0]).name = "renamed";
  EXPECT_THAT(refused(plan, other).where, HasSubstr("step 2"));
  other = graph;
  const ValueType type = graph.value(graph.outputs[0]).type;
  add_node(other,
           {.name = "more", .op_type = "Relu", .inputs = {other.outputs[0]}, .outputs = {add_value(other, "z", type)}});
  EXPECT_EQ(refused(plan, other).code, "plan/other-graph");
}

TEST(CoverFromPlan, RefusesAVariantThatIsGone) {
  const Graph graph = test::small_graph();
  Plan plan = hand_made(graph);
  plan.steps[3].variant = "wino";
  EXPECT_EQ(refused(plan, graph).code, "plan/other-variant");
  plan = hand_made(graph);
  plan.values[plan.steps[3].inputs[0]].place.format = channels_last();
  EXPECT_EQ(refused(plan, graph).code, "plan/other-variant");
}

TEST(CoverFromPlan, RefusesNodesTwiceAndNodesLeftOver) {
  const Graph graph = test::small_graph();
  Plan plan = hand_made(graph);
  plan.steps.push_back(plan.steps[0]);
  EXPECT_THAT(refused(plan, graph).saw, HasSubstr("in two steps"));
  plan = hand_made(graph);
  plan.steps.pop_back();
  EXPECT_THAT(refused(plan, graph).saw, HasSubstr("no step for node y_node"));
}

}  // namespace
}  // namespace collage
