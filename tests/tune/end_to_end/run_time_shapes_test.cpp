// Networks in which data decide shapes are placed inside too: values of such shapes pass from one step to another,
// steps after them run on several backends, and any placement gives the reference's numbers for inputs that lead to
// other shapes than those of the recorded run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "api/tune/gather_inputs.h"
#include "numbers/compare.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "plan/open_values.h"
#include "tests/support/run_time_shapes.h"
#include "tests/tune/end_to_end/random_placements.h"

namespace collage {
namespace {

using test::RandomPlacements;
using test::registry;
using testing_support::open_networks;
using testing_support::OpenNetwork;

constexpr std::int64_t kWidth = 16;
/// Those whose kernels take values of open shape, and one that does not.
const std::vector<std::string> kBackends = {"onnxruntime", "openvino", "native", "host"};
constexpr std::uint64_t kInputSeeds = 20;

/// As an import gives it.
Graph imported(const Graph& graph) {
  auto made = import_model(export_graph(graph, {.external = {}, .node_metadata = {}}), "", {});
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? std::move(made->graph) : Graph{};
}

class RunTimeShapes : public ::testing::TestWithParam<OpenNetwork> {
 protected:
  void SetUp() override {
    const auto engine = registry().get(kReferenceEngine);
    if (!engine || !registry().get("openvino") || !registry().get("native"))
      GTEST_SKIP() << "needs two engines and the compiler";
    graph_ = imported(GetParam().make(kWidth));
    ASSERT_TRUE(verify(graph_)) << to_string(verify(graph_).error());
    auto reference = WholeModel::create(**engine, graph_, std::nullopt, {});
    ASSERT_TRUE(reference) << to_string(reference.error());
    reference_ = std::make_unique<WholeModel>(std::move(*reference));
    test::write_model(graph_, scratch_.file("model.onnx"));
  }

  void expect_numbers(RealisedPlan plan) {
    auto session = test::session_of(std::move(plan), registry());
    ASSERT_TRUE(session) << to_string(session.error());
    for (std::uint64_t seed = 1; seed <= kInputSeeds; ++seed) {
      SCOPED_TRACE("inputs of seed " + std::to_string(seed));
      const std::vector<Tensor> inputs = gather_inputs(graph_, {.files = {}, .ranges = {}, .seed = seed}).value();
      ASSERT_TRUE(reference_->set_inputs(inputs));
      ASSERT_TRUE(reference_->run());
      const std::vector<Tensor> expected = reference_->outputs().value();
      ASSERT_TRUE(session->set_inputs(inputs));
      const auto ran = session->run();
      ASSERT_TRUE(ran) << to_string(ran.error());
      const std::vector<Tensor> seen = session->copy_outputs().value();
      ASSERT_EQ(seen.size(), expected.size());
      for (std::size_t o = 0; o < seen.size(); ++o) {
        const Comparison comparison = compare(seen[o], expected[o], Accuracy::kStandard, false);
        EXPECT_TRUE(comparison.ok) << "output " << o << ": " << to_string(comparison);
        shapes_.insert(to_string(seen[o].value_type()));
      }
    }
  }

  test::Scratch scratch_;
  Graph graph_;
  std::unique_ptr<WholeModel> reference_;
  std::set<std::string> shapes_;
};

TEST_P(RunTimeShapes, AnyPlacementGivesTheReferencesNumbers) {
  RandomPlacements placements(scratch_.file("model.onnx"), kBackends);
  std::set<std::string> readers;
  for (const std::size_t most_nodes : {std::size_t{1}, std::size_t{3}, std::size_t{6}}) {
    SCOPED_TRACE("seed " + std::to_string(most_nodes));
    std::mt19937_64 random(most_nodes);
    auto plan = placements.next(random, most_nodes);
    ASSERT_TRUE(plan) << to_string(plan.error());
    for (const PlanStep& step : plan->plan.steps)
      if (reads_open_value(plan->plan, step)) readers.insert(step.backend);
    expect_numbers(std::move(*plan));
  }
  EXPECT_GE(readers.size(), 2U) << ::testing::PrintToString(readers);
}

TEST_P(RunTimeShapes, CompiledKernelsGiveTheReferencesNumbers) {
  RandomPlacements placements(scratch_.file("model.onnx"), {"native", "onnxruntime"});
  std::mt19937_64 random(1);
  // Engines' candidates are left out where the compiler has one.
  auto plan = placements.next(random, 2, "native");
  ASSERT_TRUE(plan) << to_string(plan.error());
  const bool is_read = std::ranges::any_of(plan->plan.steps, [&](const PlanStep& step) {
    return step.backend == "native" && reads_open_value(plan->plan, step);
  });
  EXPECT_TRUE(is_read) << "no kernel of native reads a value of open shape";
  expect_numbers(std::move(*plan));
}

std::string name_of(const ::testing::TestParamInfo<OpenNetwork>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Networks, RunTimeShapes, ::testing::ValuesIn(open_networks()), name_of);

}  // namespace
}  // namespace collage
