// The whole pipeline where things are not as usual.
#include "api/tune/verify.h"
#include "plan/file/plan_file.h"
#include "plan/file/plan_json.h"
#include "store/store.h"
#include "tests/support/session_of.h"
#include "tests/tune/tune_fixture.h"
#include "tune/tune.h"

namespace collage {
namespace {

struct TuneLab {
  [[nodiscard]] TuneOptions options(std::vector<std::string> backends) const {
    return test::small_tune(scratch, std::move(backends));
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST(Acceptance, ACandidateThatThrowsIsLeftOutAndTheReasonKept) {
  TuneLab lab;
  test::write_model(test::small_graph(), lab.scratch.file("model.onnx"));
  const std::vector<std::string> throwing = {"test:fault=compile-throw", "test:fault=run-throw"};
  TuneOptions options = lab.options({"onnxruntime", throwing[0], throwing[1]});
  options.measures_all = true;
  const auto report = tune(options, lab.registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GE(report->refused, 2U);
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan) << to_string(plan.error());
  for (const PlanStep& step : plan->plan.steps) EXPECT_FALSE(step.backend.starts_with("test")) << step.backend;
  auto store = Store::open(lab.scratch.file("costs"));
  ASSERT_TRUE(store);
  for (const std::string& instance : throwing) {
    const auto costs = store->costs_like(" backend=" + instance + " ");
    EXPECT_FALSE(costs.empty()) << instance;
    for (const auto& [key, cost] : costs) {
      const auto* infeasible = std::get_if<Infeasible>(&cost);
      ASSERT_NE(infeasible, nullptr) << key;
      EXPECT_EQ(infeasible->refusal.reason, RefusalReason::kCompile);
      EXPECT_FALSE(infeasible->refusal.detail.empty());
    }
    EXPECT_NE(to_json(plan->plan).find(instance), std::string::npos) << "the plan's report names it";
  }
}

/// p - relu(q), with names that no identifier, path or JSON likes.
Graph oddly_named() {
  Graph graph;
  graph.name = "odd names";
  graph.opsets = {{"", 26}};
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {6, 16});
  const auto op = [&](const std::string& op_type, const std::vector<ValueId>& inputs, const std::string& output) {
    const ValueId out = add_value(graph, output, type);
    Node node;
    node.name = "node of " + output;
    node.op_type = op_type;
    node.inputs = inputs;
    node.outputs = {out};
    add_node(graph, std::move(node));
    return out;
  };
  const ValueId p = add_value(graph, "serving_default_p:0/\"quoted\" \xc3\xa9", type);
  const ValueId q = add_value(graph, "../0", type);
  graph.inputs = {p, q};
  const ValueId relu = op("Relu", {q}, "a b\\c");
  graph.outputs = {op("Sub", {p, relu}, "StatefulPartitionedCall:0")};
  return graph;
}

TEST(Acceptance, TwoInputsOddlyNamedKeepTheirNamesOrderAndNumbers) {
  TuneLab lab;
  const Graph graph = oddly_named();
  test::write_model(graph, lab.scratch.file("model.onnx"));
  const auto report = tune(lab.options({"onnxruntime", "test"}), lab.registry);
  ASSERT_TRUE(report) << to_string(report.error());
  auto session = test::session_of(report->plan, lab.registry);
  ASSERT_TRUE(session) << to_string(session.error());
  const auto& ports = session->inputs();
  ASSERT_EQ(ports.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(ports[i].name, graph.value(graph.inputs[i]).name);
  EXPECT_EQ(session->outputs().at(0).name, graph.value(graph.outputs[0]).name);

  const std::vector<Tensor> inputs = {test::numbers({6, 16}, 1), test::numbers({6, 16}, 2)};
  ASSERT_TRUE(session->set_inputs(inputs));
  ASSERT_TRUE(session->run());
  const std::vector<Tensor> outputs = session->copy_outputs().value();
  for (std::size_t i = 0; i < 96; ++i)
    ASSERT_NEAR(outputs[0].data.as<float>()[i],
                inputs[0].data.as<float>()[i] - std::max(inputs[1].data.as<float>()[i], 0.0F), 1e-5)
        << i;
  const auto verified =
      verify_plan({.plan = report->plan, .model = std::nullopt, .seeds = 2, .input_ranges = {}}, lab.registry);
  ASSERT_TRUE(verified) << to_string(verified.error());
  EXPECT_TRUE(verified->ok) << to_text(*verified);
}

}  // namespace
}  // namespace collage
