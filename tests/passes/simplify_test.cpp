#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

const char* const kText = R"(graph g(%x: f32[2]) -> (%y) { opset ai.onnx 26
  constant %one = f32[]{1.0}
  %a: f32[2] = Mul(%x, %one) "a"
  %b: f32[2] = Add(%a, %x) "b"
  %c: f32[2] = Add(%a, %x) "c"
  %y: f32[2] = Mul(%b, %c) "y" })";

TEST(Simplify, RunsToAFixedPoint) {
  const Graph once = simplified(graph_of(kText));
  EXPECT_EQ(once.nodes.size(), 2U);
  EXPECT_EQ(simplified(once), once);
  expect_same_meaning(graph_of(kText), once);
}

TEST(Simplify, ReportsEachPass) {
  const auto result = simplify(graph_of(kText), {}, tiny_evaluator());
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->passes.size(), pass_names().size());
  for (std::size_t i = 0; i < result->passes.size(); ++i) {
    EXPECT_EQ(result->passes[i].name, pass_names()[i]);
    EXPECT_GE(result->passes[i].runs, 2);
  }
  const auto report = std::find_if(result->passes.begin(), result->passes.end(),
                                   [](const PassReport& pass) { return pass.name == "remove_identities"; });
  EXPECT_EQ(report->changed, 1);
  EXPECT_EQ(report->nodes_before, 4U);
}

TEST(Simplify, LeavesOutWhatIsSwitchedOff) {
  PassOptions options;
  for (const std::string_view name : pass_names()) options.off.insert(std::string(name));
  const Graph graph = graph_of(kText);
  EXPECT_EQ(simplified(graph, options), graph);
}

TEST(Simplify, RefusesUnknownPasses) {
  PassOptions options;
  options.off = {"no_such_pass"};
  const auto result = simplify(graph_of(kText), options, tiny_evaluator());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, "passes/unknown-pass");
  EXPECT_EQ(result.error().exit, ExitCode::kUsage);
}

TEST(Simplify, WorksWithoutAnEvaluator) {
  const auto result = simplify(graph_of(kText), {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->graph.nodes.size(), 2U);
}

TEST(Simplify, KeepsTheOrderOfInputsAndRepeatedOutputs) {
  const Graph before = graph_of(R"(graph g(%p: f32[2], %q: f32[2]) -> (%y, %z, %y) { opset ai.onnx 26
  %a: f32[2] = Identity(%q) "a"
  %y: f32[2] = Identity(%a) "y"
  %z: f32[2] = Relu(%p) "z" })");
  expect_same_meaning(before, simplified(before));
}

TEST(Simplify, DoesNotReuseNamesOfTheImportedGraph) {
  // Removing the identity frees "y_shape", which the merged reshape would like to take.
  const Graph before = graph_of(R"(graph g(%x: f32[2,3]) -> (%y, %z) { opset ai.onnx 26
  constant %t = i64[2]{3,2}
  constant %u = i64[1]{6}
  %y_shape: f32[2,3] = Identity(%x) "copy"
  %z: f32[2,3] = Relu(%y_shape) "z"
  %a: f32[3,2] = Reshape(%x, %t) "a"
  %y: f32[6] = Reshape(%a, %u) "y" })");
  const Graph after = simplified(before);
  EXPECT_EQ(after.nodes.size(), 2U);
  for (const Value& value : after.values) EXPECT_NE(value.name, "y_shape");
}

}  // namespace
}  // namespace collage::test
