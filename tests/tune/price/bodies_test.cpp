// Bodies of control-flow operators, placed by a whole tune and run from its plan.
#include "tune/price/bodies.h"

#include <gmock/gmock.h>

#include <set>

#include <fmt/format.h>

#include "api/tune/source_model.h"
#include "api/tune/verify.h"
#include "numbers/record.h"
#include "onnx/files/tensor_file.h"
#include "plan/explain/explain.h"
#include "plan/file/plan_json.h"
#include "tests/support/decisions_text.h"
#include "tests/support/paths.h"
#include "tests/tune/price/bodies_fixture.h"
#include "tune/price/body_record.h"

namespace collage {
namespace {

using test::Bodies;
using test::bool_tensor;
using test::count_of;
using test::graph_of;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;

std::vector<float> numbers_of(const Tensor& tensor) {
  const auto values = tensor.data.as<float>();
  return {values.begin(), values.end()};
}

/// An If whose condition is an input; its branches read a value of theirs and a constant from outside.
const char* const kChoice = R"(graph choice(%c: bool[], %x: f32[6,16]) -> (%y) {
  opset ai.onnx 26
  constant %two = f32[]{2.0}
  %a: f32[6,16] = Add(%x, %two) "a_node"
  %b: f32[6,16] = If(%c) captures(%a, %two) {else_branch=graph no() -> (%n) {
      capture %a: f32[6,16]
      %m: f32[6,16] = Relu(%a) "m_node"
      %n: f32[6,16] = Add(%m, %a) "n_node"
    }, then_branch=graph yes() -> (%o) {
      capture %a: f32[6,16]
      capture %two: f32[]
      %p: f32[6,16] = Add(%a, %two) "p_node"
      %o: f32[6,16] = Relu(%p) "o_node"
    }} "choose"
  %y: f32[6,16] = Relu(%b) "y_node"
}
)";

/// Steps compute the nodes of their own graph, each once, and none of a body: those have steps in the body's plan, or
/// one engine takes the whole operator. Gives the number of bodies with steps of their own.
std::size_t expect_own_nodes_only(const PlanBody& plan, const Graph& graph) {
  std::size_t placed = 0;
  std::multiset<std::string> seen;
  std::multiset<std::string> own;
  for (const Node& node : graph.nodes) own.insert(node.name);
  for (const PlanStep& step : plan.steps) {
    const std::vector<std::string>& names = nodes_of(step).names;
    seen.insert(names.begin(), names.end());
    if (bodies_of(step).empty()) continue;
    const auto node = std::ranges::find(graph.nodes, names.front(), &Node::name);
    EXPECT_TRUE(names.size() == 1 && node != graph.nodes.end());
    const std::vector<const Graph*> bodies = bodies_of(*node);
    EXPECT_EQ(bodies.size(), bodies_of(step).size());
    for (std::size_t b = 0; b < bodies.size(); ++b) placed += 1 + expect_own_nodes_only(bodies_of(step)[b], *bodies[b]);
  }
  EXPECT_EQ(seen, own) << plan.name;
  return placed;
}

TEST_F(Bodies, BranchesOfAnIfArePlacedAndBothGiveTheModelsNumbers) {
  auto session = tuned(options(written(graph_of(kChoice)), "choose"));
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_EQ(report->shipped, "cover");
  EXPECT_THAT(report->backends, Contains(Key(std::string(kControlBackend))));
  const Tensor x = test::numbers({6, 16}, 3);
  for (const bool condition : {false, true}) {
    const std::vector<Tensor> seen = outputs_for(*session, {bool_tensor(condition), x});
    ASSERT_EQ(seen.size(), 1U);
    const std::vector<float> y = numbers_of(seen[0]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float a = x.data.as<float>()[i] + 2;
      const float b = condition ? std::max(a + 2, 0.0F) : std::max(a, 0.0F) + a;
      ASSERT_NEAR(y[i], std::max(b, 0.0F), 1e-5) << condition << " " << i;
    }
  }
}

TEST_F(Bodies, IterationsOfALoopArePlaced) {
  Graph graph = graph_of(R"(graph counted(%n: i64[], %x: f32[6,16]) -> (%y, %s) {
  opset ai.onnx 26
  constant %three = i64[]{3}
  %y: f32[6,16] = Loop(%n, _, %x) captures(%x) {body=graph body(%i: i64[], %c: bool[], %p: f32[6,16]) -> (%d, %q) {
      capture %x: f32[6,16]
      %d: bool[] = Identity(%c) "d_node"
      %q: f32[6,16] = Add(%p, %x) "q_node"
    }} "count"
  %z: f32[6,16], %s: f32[3,6,16] = Loop(%three, _, %y) {body=graph stack(%j: i64[], %e: bool[], %r: f32[6,16]) -> (%f, %t, %t) {
      %f: bool[] = Identity(%e) "f_node"
      %t: f32[6,16] = Add(%r, %r) "t_node"
    }} "count_and_stack"
}
)");
  auto session = tuned(options(written(graph), "count*"));
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_EQ(report->backends[std::string(kControlBackend)], 2U);
  const Tensor x = test::numbers({6, 16}, 3);
  for (const std::int64_t trips : {0, 1, 4}) {
    const Tensor n = make_tensor<std::int64_t>(ElementType::kInt64, {}, std::vector<std::int64_t>{trips});
    const std::vector<Tensor> seen = outputs_for(*session, {n, x});
    ASSERT_EQ(seen.size(), 2U);
    for (std::size_t i = 0; i < 96; ++i) {
      const float y = x.data.as<float>()[i] * static_cast<float>(trips + 1);
      ASSERT_NEAR(seen[0].data.as<float>()[i], y, 1e-4) << trips << " " << i;
      for (std::size_t k = 0; k < 3; ++k)
        ASSERT_NEAR(seen[1].data.as<float>()[k * 96 + i], y * static_cast<float>(2 << k), 1e-3) << trips << " " << i;
    }
  }
}

TEST_F(Bodies, NoStepCrossesTheBorderOfABody) {
  const Graph graph = graph_of(kChoice);
  const auto session = tuned(options(written(graph), "choose"));
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_EQ(expect_own_nodes_only(session->plan(), graph), 2U);
  // Unless one engine takes the operator with all that is in it.
  const auto whole = tuned(options(written(graph), "", "onnxruntime"));
  ASSERT_TRUE(whole) << to_string(whole.error());
  EXPECT_EQ(expect_own_nodes_only(whole->plan(), graph), 0U);
}

TEST_F(Bodies, AreMeasuredLazilyToo) {
  TuneOptions wanted = options(written(graph_of(kChoice)), "choose");
  wanted.store = "memory:";
  ASSERT_TRUE(tuned(wanted));
  const std::size_t lazily = report->measured;
  wanted.measures_all = true;
  ASSERT_TRUE(tuned(wanted));
  EXPECT_LT(lazily, report->measured);
}

TEST_F(Bodies, AreLeftToEnginesWhenTheBudgetIsSpent) {
  TuneOptions hasty = options(written(graph_of(kChoice)), "");
  hasty.budget_s = 0;
  auto session = tuned(hasty);
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_THAT(to_json(load_plan(report->plan)->plan), HasSubstr("the budget ran out before all of its bodies"));
  // Unless nobody else may take the operator.
  hasty = options(hasty.model, "choose");
  hasty.budget_s = 0;
  session = tuned(hasty);
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_EQ(report->shipped, "cover");
}

TEST_F(Bodies, AreReplayedWithoutMeasuring) {
  TuneOptions wanted = options(written(graph_of(kChoice)), "choose");
  ASSERT_TRUE(tuned(wanted));
  const Plan old = load_plan(report->plan).value().plan;
  const TuneReport first = *report;
  wanted.replay = wanted.output;
  wanted.output = scratch.file("again.collage");
  wanted.backends = {};
  auto again = tuned(wanted);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(report->measured, 0U);
  EXPECT_EQ(report->backends, first.backends);
  EXPECT_EQ(report->steps, first.steps);
  const Plan made = load_plan(report->plan).value().plan;
  EXPECT_EQ(made.steps, old.steps);
  EXPECT_EQ(test::decisions_text(made), test::decisions_text(old));
  EXPECT_THAT(test::decisions_text(made), HasSubstr("  body yes\n"));
  EXPECT_EQ(outputs_for(*again, {bool_tensor(true), test::numbers({6, 16}, 3)}).size(), 1U);

  Graph other = graph_of(kChoice);
  for (Attribute& attribute : other.nodes[1].attributes)
    if (auto* body = std::get_if<Body>(&attribute.value); body != nullptr && body->graph->name == "yes") {
      Graph changed = *body->graph;
      changed.nodes[1].op_type = "Sigmoid";
      body->graph = std::make_shared<const Graph>(std::move(changed));
    }
  wanted.model = written(other);
  const auto refused = tune(wanted, registry);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "plan/other-graph");
}

TEST_F(Bodies, AreExplained) {
  ASSERT_TRUE(tuned(options(written(graph_of(kChoice)), "choose")));
  const Plan plan = load_plan(report->plan).value().plan;
  const auto text = explain_as_text(plan);
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_THAT(*text, HasSubstr("body no\n"));
  EXPECT_THAT(*text, HasSubstr("p_node"));
  const auto outer = explain_as_text(plan, "choose");
  ASSERT_TRUE(outer) << to_string(outer.error());
  EXPECT_THAT(*outer, HasSubstr("bodies/placed on 1 node"));
  EXPECT_THAT(*outer, HasSubstr("p_node"));
  const auto inner = explain_as_text(plan, "p_node");
  ASSERT_TRUE(inner) << to_string(inner.error());
  EXPECT_THAT(*inner, testing::AllOf(HasSubstr("choose"), HasSubstr("p_node"), testing::Not(HasSubstr("m_node"))));
  EXPECT_FALSE(explain_as_text(plan, "nobody"));
}

TEST_F(Bodies, CompeteWithAnEngineThatTakesTheWholeOperator) {
  TuneOptions open = options(written(graph_of(kChoice)), "");
  open.cost_table = scratch.file("costs.txt");
  ASSERT_TRUE(tune(open, registry));
  std::ifstream file(open.cost_table);
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(table, HasSubstr("bodies/placed: choose"));
  EXPECT_THAT(table, HasSubstr("onnxruntime/default: choose"));
}

TEST_F(Bodies, PlanHoldsAnOnnxModelWithTheOperatorInIt) {
  ASSERT_TRUE(tuned(options(written(graph_of(kChoice)), "choose")));
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto graph = plan_onnx_graph(*plan);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(std::ranges::count_if(graph->nodes, [](const Node& node) { return node.op_type == "If"; }), 1);
}

TEST_F(Bodies, UsersWordOnANodeInsideKeepsEnginesFromTakingTheWholeOperator) {
  TuneOptions banned = options(written(graph_of(kChoice)), "");
  banned.rules = {{.kind = NodeRule::Kind::kBan, .glob = "p_node", .backend = "onnxruntime"}};
  auto session = tuned(banned);
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_EQ(report->shipped, "cover");
  const auto runs = [&](const PlanStep& step) {
    return step.backend != "onnxruntime" || nodes_of(step).names.front() != "choose";
  };
  EXPECT_TRUE(std::ranges::all_of(session->plan().steps, runs));
  banned.rules.front().glob = "nobody";
  const auto refused = tune(banned, registry);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "tune/bad-rule");
}

TEST_F(Bodies, UsersWordReachesNodesInsideBodies) {
  TuneOptions banned = options(written(graph_of(kChoice)), "choose");
  banned.rules.push_back({.kind = NodeRule::Kind::kBan, .glob = "*_node", .backend = "test"});
  ASSERT_TRUE(tuned(banned));
  EXPECT_THAT(report->backends, testing::Not(Contains(Key("test"))));
}

TEST_F(Bodies, ThatCannotBePlacedAreARefusalWithAReason) {
  const Graph graph = graph_of(R"(graph counted(%n: i64[], %x: f32[6,16]) -> (%l) {
  opset ai.onnx 26
  %q: seq(f32[6,16]) = SequenceConstruct(%x) "q_node"
  %s: seq(f32[6,16]) = Loop(%n, _, %q) captures(%x) {body=graph body(%i: i64[], %c: bool[], %p: seq(f32[6,16])) -> (%d, %r) {
      capture %x: f32[6,16]
      %d: bool[] = Identity(%c) "d_node"
      %r: seq(f32[6,16]) = SequenceInsert(%p, %x) "r_node"
    }} "count"
  %l: i64[] = SequenceLength(%s) "l_node"
}
)");
  ASSERT_TRUE(tuned(options(written(graph), "")));
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan);
  EXPECT_THAT(to_json(plan->plan), HasSubstr("not a tensor of known rank"));
}

/// ONNX's own test models: what is not known before the run is a refusal, the rest must give the official outputs.
struct OfficialModel {
  std::string name;
  std::string node;
};

class OfficialBodies : public Bodies, public testing::WithParamInterface<OfficialModel> {};

TEST_P(OfficialBodies, GiveTheOfficialOutputs) {
  const std::string folder = test::onnx_cases_path("/") + GetParam().name;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no official tests here";
  auto session = tuned(options(folder + "/model.onnx", GetParam().node));
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_THAT(report->backends, Contains(Key(std::string(kControlBackend))));
  const auto tensors = [&](const char* kind, std::size_t count) {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(read_tensor_pb(fmt::format("{}/test_data_set_0/{}_{}.pb", folder, kind, i)).value());
    return result;
  };
  const std::vector<Tensor> seen = outputs_for(*session, tensors("input", session->inputs().size()));
  const std::vector<Tensor> expected = tensors("output", seen.size());
  for (std::size_t o = 0; o < seen.size(); ++o) {
    EXPECT_EQ(seen[o].extents, expected[o].extents);
    EXPECT_THAT(numbers_of(seen[o]), testing::Pointwise(testing::FloatNear(1e-5F), numbers_of(expected[o]))) << o;
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, OfficialBodies,
                         testing::Values(OfficialModel{"test_if", "If"}, OfficialModel{"test_scan9_sum", "Scan_0"},
                                         OfficialModel{"test_scan9_scalar", "Scan_0"},
                                         OfficialModel{"test_scan9_multi_state", "Scan_0"}),
                         [](const auto& param) { return param.param.name; });

// ---- what a recorded run says ---------------------------------------------------------------------------------

class BodyRecords : public testing::Test {
 protected:
  Record record_of(const std::vector<std::pair<std::string, Tensor>>& values) {
    auto writer = RecordWriter::create(folder.file("record"));
    for (const auto& [name, tensor] : values) EXPECT_TRUE(writer->add(name, tensor));
    EXPECT_TRUE(writer->finish());
    return Record::open(folder.file("record")).value();
  }

  test::ScratchFolder folder;
};

TEST_F(BodyRecords, SayWhichBranchRanAndHowOftenALoopDid) {
  const Graph choice = graph_of(kChoice);
  const Node& choose = choice.nodes[1];
  EXPECT_EQ(body_runs(choice, choose, record_of({})), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(body_runs(choice, choose, record_of({{"c", bool_tensor(true)}})), (std::vector<double>{0, 1}));
  EXPECT_EQ(body_runs(choice, choose, record_of({{"c", bool_tensor(false)}})), (std::vector<double>{1, 0}));

  const auto loop_of = [](const std::string& op) {
    return graph_of(R"(graph g(%n: i64[], %x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Loop(%n, _, %x) {body=graph body(%i: i64[], %c: bool[], %p: f32[2]) -> (%d, %q) {
      %d: bool[] = )" +
                    op + R"((%c) "d"
      %q: f32[2] = Add(%p, %p) "q"
    }} "loop"
}
)");
  };
  const Graph steady = loop_of("Identity");
  EXPECT_EQ(body_runs(steady, steady.nodes[0], record_of({{"n", count_of(7)}})), std::vector<double>{7});
  EXPECT_EQ(body_runs(steady, steady.nodes[0], record_of({})), std::vector<double>{1});
  const Graph unsteady = loop_of("Not");
  EXPECT_EQ(body_runs(unsteady, unsteady.nodes[0], record_of({{"n", count_of(7)}})), std::vector<double>{1});
}

TEST_F(BodyRecords, GiveTheInputsOfTheFirstIteration) {
  const Graph graph = graph_of(R"(graph g(%s: f32[2], %a: f32[2,3], %k: f32[]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Scan(%s, %a, %a) captures(%k) {body=graph body(%t: f32[2], %first: f32[2], %last: f32[2]) -> (%w) {
      capture %k: f32[]
      %u: f32[2] = Add(%t, %first) "u"
      %v: f32[2] = Add(%u, %last) "v"
      %w: f32[2] = Mul(%v, %k) "w"
    }, num_scan_inputs=2, scan_input_axes=[1,1], scan_input_directions=[0,1]} "scan"
}
)");
  const auto floats = [](const Extents& extents, const std::vector<float>& values) {
    return make_tensor<float>(ElementType::kFloat32, extents, values);
  };
  const Record record =
      record_of({{"s", floats({2}, {8, 9})}, {"a", floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {"k", floats({}, {7})}});
  const std::string path = folder.file("inputs");
  ASSERT_TRUE(write_body_inputs(graph, graph.nodes[0], 0, record, path));
  const auto inputs = Record::open(path);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(numbers_of(inputs->tensor("t").value()), (std::vector<float>{8, 9}));
  EXPECT_EQ(numbers_of(inputs->tensor("first").value()), (std::vector<float>{1, 4}));
  EXPECT_EQ(numbers_of(inputs->tensor("last").value()), (std::vector<float>{3, 6}));
  EXPECT_EQ(numbers_of(inputs->tensor("k").value()), std::vector<float>{7});
  EXPECT_EQ(body_runs(graph, graph.nodes[0], record), std::vector<double>{3});
}

// ---- real models ----------------------------------------------------------------------------------------------

class RealModels : public Bodies {
 protected:
  /// Tunes a model of the folder $COLLAGE_MODELS with the operator pinned to its bodies, verifies the plan, and replays
  /// it.
  void tune_and_verify(const std::string& file, const std::string& pinned,
                       const std::map<std::string, std::string>& shapes,
                       const std::vector<std::map<std::string, std::pair<double, double>>>& ranges) {
    const char* folder = std::getenv("COLLAGE_MODELS");
    if (folder == nullptr || !std::filesystem::exists(folder + ("/" + file))) GTEST_SKIP() << "no models here";
    TuneOptions made = options(folder + ("/" + file), pinned);
    made.backends = {"onednn"};
    made.budget_s = 5;
    made.shapes.entries = shapes;
    auto tuned = tune(made, registry);
    ASSERT_TRUE(tuned) << to_string(tuned.error());
    report = std::move(*tuned);
    EXPECT_THAT(report->backends, Contains(Key(std::string(kControlBackend))));
    VerifyOptions check;
    check.plan = report->plan;
    check.seeds = 3;
    for (const auto& range : ranges) {
      check.input_ranges = range;
      const auto verified = verify_plan(check, registry);
      ASSERT_TRUE(verified) << to_string(verified.error());
      EXPECT_TRUE(verified->ok) << to_text(*verified);
    }
    const RealisedPlan plan = load_plan(report->plan).value();
    EXPECT_GT(expect_own_nodes_only(plan.plan, plan_onnx_graph(plan).value()), 0U);
    EXPECT_TRUE(explain_as_text(plan.plan));
    made.replay = made.output;
    made.output = scratch.file("again.collage");
    const auto again = tune(made, registry);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(test::decisions_text(load_plan(again->plan).value().plan), test::decisions_text(plan.plan));
  }
};

TEST_F(RealModels, RecurrentCellInAScanIsPlaced) {
  tune_and_verify("quantized/kaldi_qlstm.onnx", "Scan_3", {{"input", "3x3"}}, {{}});
}

TEST_F(RealModels, BranchesOfAVoiceDetectorArePlaced) {
  tune_and_verify("audio/silero_vad_v5.onnx", "If_0", {{"input", "1x256"}, {"state", "2x1x128"}, {"sr", ""}},
                  {{}, {{"sr", {16000, 16000}}}});
}

}  // namespace
}  // namespace collage
