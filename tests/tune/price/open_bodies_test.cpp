// Bodies of control-flow operators whose values have shapes that data decide: placed by a whole tune, right for inputs
// that lead to other shapes than those of the recorded run.
#include <gtest/gtest.h>

#include "api/tune/gather_inputs.h"
#include "numbers/compare.h"
#include "plan/file/plan_file.h"
#include "plan/open_values.h"
#include "tests/tune/price/bodies_fixture.h"
#include "tune/confirm/whole_model.h"

namespace collage {
namespace {

using ::testing::Contains;
using ::testing::Key;

struct OpenBodyModel {
  std::string name;
  std::string pinned;  ///< glob of the operators whose bodies are to be placed
  std::string text;    ///< of a graph with the inputs %n: i64[] and %x: f32[6,16], which has rows with both signs
};

/// %rows f32[?,16] are the rows of %x whose first element is positive.
const std::string kPositiveRows = R"(
  constant %zero = f32[]{0.0}
  constant %none = i64[1]{0}
  constant %first = i64[]{0}
  %f: f32[6] = Gather(%x, %first) {axis=1} "f_node"
  %p: bool[6] = Greater(%f, %zero) "p_node"
  %w: i64[1,?] = NonZero(%p) "w_node"
  %k: i64[?] = Squeeze(%w, %none) "k_node"
  %rows: f32[?,16] = Gather(%x, %k) "rows_node"
)";

std::string graph_text(const std::string& outputs, const std::string& nodes) {
  return "graph open(%n: i64[], %x: f32[6,16]) -> (" + outputs + ") {\n  opset ai.onnx 26\n" + nodes + "\n}\n";
}

std::vector<OpenBodyModel> models() {
  return {{"ValuesThatGrow", "grow", graph_text("%y, %s", R"(
  constant %axis = i64[1]{0}
  constant %one = i64[]{1}
  %head: f32[1,16] = ReduceMean(%x, %axis) {keepdims=1} "head_node"
  %y: f32[?,16], %s: f32[?,1,16] = Loop(%n, _, %head) captures(%head, %axis) {body=graph more(%i: i64[], %c: bool[], %t: f32[?,16]) -> (%d, %u, %m) {
      capture %head: f32[1,16]
      capture %axis: i64[1]
      %d: bool[] = Identity(%c) "d_node"
      %e: f32[1,16] = ReduceMean(%t, %axis) {keepdims=1} "e_node"
      %m: f32[1,16] = Add(%e, %head) "m_node"
      %u: f32[?,16] = Concat(%t, %m) {axis=0} "u_node"
    }} "grow")")},
          {"ValuesThatChangePlaces", "swap", graph_text("%y, %z", kPositiveRows + R"(
  %y: f32[?,16], %z: f32[?,16] = Loop(%n, _, %rows, %x) {body=graph turn(%i: i64[], %c: bool[], %a: f32[?,16], %b: f32[?,16]) -> (%d, %b, %a) {
      %d: bool[] = Identity(%c) "d_node"
    }} "swap")")},
          {"IterationsThatDataCount", "search", graph_text("%s, %last", R"(
  constant %limit = f32[]{40.0}
  constant %two = f32[]{2.0}
  constant %yes = bool[]{1}
  %abs: f32[6,16] = Abs(%x) "abs_node"
  %last: f32[6,16], %s: f32[?,6,16] = Loop(%n, %yes, %abs) captures(%two, %limit) {body=graph step(%i: i64[], %c: bool[], %t: f32[6,16]) -> (%d, %u, %u) {
      capture %two: f32[]
      capture %limit: f32[]
      constant %all = i64[2]{0,1}
      %u: f32[6,16] = Mul(%t, %two) "u_node"
      %most: f32[] = ReduceMax(%u, %all) {keepdims=0} "most_node"
      %d: bool[] = Less(%most, %limit) "d_node"
    }} "search")")},
          {"BranchesOfOtherExtents", "choose", graph_text("%y", kPositiveRows + R"(
  constant %three = i64[]{3}
  %many: bool[] = Greater(%n, %three) "many_node"
  %b: f32[?,16] = If(%many) captures(%rows, %x) {else_branch=graph few() -> (%q) {
      capture %rows: f32[?,16]
      %g: f32[?,16] = Relu(%rows) "g_node"
      %q: f32[?,16] = Add(%g, %rows) "q_node"
    }, then_branch=graph every() -> (%r) {
      capture %x: f32[6,16]
      %h: f32[6,16] = Add(%x, %x) "h_node"
      %r: f32[6,16] = Relu(%h) "r_node"
    }} "choose"
  %y: f32[?,16] = Add(%b, %b) "y_node")")},
          {"SelectionsInABody", "pick", graph_text("%y", R"(
  %y: f32[6,16] = Loop(%n, _, %x) captures(%x) {body=graph picks(%i: i64[], %c: bool[], %t: f32[6,16]) -> (%d, %u) {
      capture %x: f32[6,16]
      constant %zero = f32[]{0.0}
      constant %none = i64[1]{0}
      constant %first = i64[]{0}
      %d: bool[] = Identity(%c) "d_node"
      %f: f32[6] = Gather(%t, %first) {axis=1} "f_node"
      %p: bool[6] = Greater(%f, %zero) "p_node"
      %w: i64[1,?] = NonZero(%p) "w_node"
      %k: i64[?] = Squeeze(%w, %none) "k_node"
      %v: f32[?,16] = Gather(%t, %k) "v_node"
      %a: f32[?,16] = Softmax(%v) "a_node"
      %m: f32[1,16] = ReduceSum(%a, %none) {keepdims=1} "m_node"
      %u: f32[6,16] = Sub(%x, %m) "u_node"
    }} "pick")")},
          {"ScansOfCountedRows", "scan", graph_text("%y, %s", kPositiveRows + R"(
  constant %start = f32[16]{0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0}
  %y: f32[16], %s: f32[?,16] = Scan(%start, %rows) {body=graph sums(%t: f32[16], %r: f32[16]) -> (%u, %v) {
      %u: f32[16] = Add(%t, %r) "u_node"
      %v: f32[16] = Relu(%u) "v_node"
    }, num_scan_inputs=1, scan_input_directions=[1]} "scan")")}};
}

class OpenBodies : public test::Bodies, public ::testing::WithParamInterface<OpenBodyModel> {
 protected:
  void SetUp() override {
    const auto engine = registry.get(kReferenceEngine);
    if (!engine) GTEST_SKIP() << "needs the reference engine";
    graph_ = test::graph_of(GetParam().text);
    auto reference = WholeModel::create(**engine, graph_, std::nullopt, {});
    ASSERT_TRUE(reference) << to_string(reference.error());
    reference_ = std::make_unique<WholeModel>(std::move(*reference));
  }

  std::vector<Tensor> expected(const std::vector<Tensor>& inputs) {
    EXPECT_TRUE(reference_->set_inputs(inputs));
    const auto ran = reference_->run();
    EXPECT_TRUE(ran) << to_string(ran.error());
    return reference_->outputs().value_or(std::vector<Tensor>{});
  }

  Graph graph_;
  std::unique_ptr<WholeModel> reference_;
};

TEST_P(OpenBodies, ArePlacedAndGiveTheReferencesNumbers) {
  TuneOptions wanted = options(written(graph_), GetParam().pinned);
  wanted.backends = {"onnxruntime", "native", "host", "test"};
  std::erase_if(wanted.backends, [&](const std::string& name) { return !registry.get(name); });
  wanted.input_ranges = {{"n", {3, 3}}};
  auto session = tuned(wanted);
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_THAT(report->backends, Contains(Key(std::string(kControlBackend))));
  for (const std::int64_t count : {3, 0, 1, 7, 2}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(::testing::Message() << "n = " << count << ", seed " << seed);
      const std::vector<Tensor> inputs = {test::count_of(count), test::numbers({6, 16}, seed)};
      const std::vector<Tensor> right = expected(inputs);
      const std::vector<Tensor> seen = outputs_for(*session, inputs);
      ASSERT_EQ(seen.size(), right.size());
      for (std::size_t o = 0; o < seen.size(); ++o) {
        const Comparison comparison = compare(seen[o], right[o], Accuracy::kStandard, false);
        EXPECT_TRUE(comparison.ok) << "output " << o << ": " << to_string(comparison);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OpenBodies, ::testing::ValuesIn(models()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace collage
