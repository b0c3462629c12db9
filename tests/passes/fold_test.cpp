#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

void expect_folded(const std::string& text, const std::set<std::string>& passes, std::size_t nodes_left) {
  const Graph before = graph_of(text);
  const Graph after = simplified(before, only(passes));
  EXPECT_EQ(after.nodes.size(), nodes_left) << to_text(after);
  expect_same_meaning(before, after);
}

const std::string kNorm = R"(
  constant %g = f32[4]{1.5,0.5,2.0,1.0}
  constant %b = f32[4]{0.1,0.2,-0.3,0.4}
  constant %m = f32[4]{0.5,-0.5,0.25,0.0}
  constant %v = f32[4]{1.0,2.0,0.5,4.0}
)";

TEST(FoldBatchNorm, GoesIntoAConvolutionWithBias) {
  expect_folded("graph g(%x: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26" + kNorm + R"(
  constant %w = f32[4,2,1,1]{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0}
  constant %c = f32[4]{1.0,2.0,3.0,4.0}
  %t: f32[1,4,3,3] = Conv(%x, %w, %c) "conv"
  %y: f32[1,4,3,3] = BatchNormalization(%t, %g, %b, %m, %v) {epsilon=0.001} "bn" })",
                {"fold_batch_norm"}, 1);
}

TEST(FoldBatchNorm, GoesIntoAGroupedConvolutionWithoutBias) {
  expect_folded("graph g(%x: f32[1,4,3,3]) -> (%y) { opset ai.onnx 26" + kNorm + R"(
  constant %w = f32[4,2,1,1]{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0}
  %t: f32[1,4,3,3] = Conv(%x, %w) {group=2} "conv"
  %y: f32[1,4,3,3] = BatchNormalization(%t, %g, %b, %m, %v) "bn" })",
                {"fold_batch_norm"}, 1);
}

TEST(FoldBatchNorm, GoesIntoAGroupedTransposedConvolution) {
  expect_folded("graph g(%x: f32[1,4,2,2]) -> (%y) { opset ai.onnx 26" + kNorm + R"(
  constant %w = f32[4,2,1,2]{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0}
  %t: f32[1,4,3,4] = ConvTranspose(%x, %w) {group=2, strides=[2,2]} "conv"
  %y: f32[1,4,3,4] = BatchNormalization(%t, %g, %b, %m, %v) "bn" })",
                {"fold_batch_norm"}, 1);
}

TEST(FoldBatchNorm, GoesIntoGemmWithEitherOrderOfWeights) {
  for (const std::string order : {"f32[2,4]", "f32[4,2]"})
    expect_folded("graph g(%x: f32[3,2]) -> (%y) { opset ai.onnx 26" + kNorm + "constant %w = " + order +
                      "{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0}" + R"(
  constant %c = f32[1,4]{1.0,2.0,3.0,4.0}
  %t: f32[3,4] = Gemm(%x, %w, %c) {alpha=0.5)" +
                      (order == "f32[4,2]" ? ", transB=1" : "") + R"(} "fc"
  %y: f32[3,4] = BatchNormalization(%t, %g, %b, %m, %v) "bn" })",
                  {"fold_batch_norm"}, 1);
}

TEST(FoldBatchNorm, LeavesAConvolutionThatOthersRead) {
  expect_folded("graph g(%x: f32[1,2,3,3]) -> (%y, %t) { opset ai.onnx 26" + kNorm + R"(
  constant %w = f32[4,2,1,1]{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0}
  %t: f32[1,4,3,3] = Conv(%x, %w) "conv"
  %y: f32[1,4,3,3] = BatchNormalization(%t, %g, %b, %m, %v) "bn" })",
                {"fold_batch_norm"}, 2);
}

TEST(FoldBatchNorm, IsNotPartOfClassStrict) {
  const Graph before = graph_of("graph g(%x: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26" + kNorm + R"(
  constant %w = f32[4,2,1,1]{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0}
  %t: f32[1,4,3,3] = Conv(%x, %w) "conv"
  %y: f32[1,4,3,3] = BatchNormalization(%t, %g, %b, %m, %v) "bn" })");
  PassOptions strict;
  strict.accuracy = Accuracy::kStrict;
  EXPECT_EQ(simplified(before, strict), before);
  EXPECT_EQ(simplified(before).nodes.size(), 1U);
}

TEST(SplitBatchNorm, BecomesMulAndAdd) {
  const Graph before = graph_of("graph g(%x: f32[1,4,3,3]) -> (%y) { opset ai.onnx 26" + kNorm + R"(
  %y: f32[1,4,3,3] = BatchNormalization(%x, %g, %b, %m, %v) "bn" })");
  const Graph after = simplified(before);
  EXPECT_EQ(count(after, "Mul"), 1U);
  EXPECT_EQ(count(after, "Add"), 1U);
  expect_same_meaning(before, after);
}

TEST(FoldScale, TakesFactorsOfChannelsAndWhole) {
  expect_folded(R"(graph g(%x: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,2,1,1]{1.0,-2.0,3.0,4.0}
  constant %s = f32[2,1,1]{0.5,3.0}
  constant %two = f32[]{2.0}
  %t: f32[1,2,3,3] = Conv(%x, %w) {pads=[0,0,0,0]} "conv"
  %u: f32[1,2,3,3] = Mul(%t, %s) "scale"
  %y: f32[1,2,3,3] = Mul(%u, %two) "double" })",
                {"fold_scale"}, 1);
}

TEST(FoldScale, LeavesFactorsOfOtherAxes) {
  expect_folded(R"(graph g(%x: f32[1,2,2,2]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,2,1,1]{1.0,-2.0,3.0,4.0}
  constant %s = f32[2]{0.5,3.0}
  %t: f32[1,2,2,2] = Conv(%x, %w) "conv"
  %y: f32[1,2,2,2] = Mul(%t, %s) "scale" })",
                {"fold_scale"}, 2);
}

TEST(MergeBias, AddsToWhatIsThere) {
  expect_folded(R"(graph g(%x: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,2,1,1]{1.0,-2.0,3.0,4.0}
  constant %b = f32[2]{7.0,8.0}
  constant %s = f32[1,2,1,1]{0.5,3.0}
  %t: f32[1,2,3,3] = Conv(%x, %w, %b) "conv"
  %y: f32[1,2,3,3] = Add(%t, %s) "bias" })",
                {"merge_bias"}, 1);
}

TEST(MergeBias, LeavesGraphsThatRound) {
  const Graph before = graph_of(R"(graph g(%x: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,2,1,1]{1.0,-2.0,3.0,4.0}
  constant %s = f32[1,2,1,1]{0.5,3.0}
  %t: f32[1,2,3,3] = Conv(%x, %w) "conv"
  %u: f32[1,2,3,3] = Add(%t, %s) "bias"
  %y: f32[1,2,3,3] = Floor(%u) "floor" })");
  EXPECT_EQ(simplified(before), before);
}

TEST(FoldPad, GoesIntoConvolutionAndAveragePool) {
  const std::string pads = "constant %p = i64[8]{0,0,1,0,0,0,0,1}";
  expect_folded("graph g(%x: f32[1,1,3,3]) -> (%y) { opset ai.onnx 26 " + pads + R"(
  constant %w = f32[1,1,2,2]{1.0,-2.0,3.0,4.0}
  %t: f32[1,1,4,4] = Pad(%x, %p) "pad"
  %y: f32[1,1,5,3] = Conv(%t, %w) {pads=[0,0,2,0]} "conv" })",
                {"fold_pad"}, 1);
  expect_folded("graph g(%x: f32[1,1,3,3]) -> (%y) { opset ai.onnx 26 " + pads + R"(
  %t: f32[1,1,4,4] = Pad(%x, %p) "pad"
  %y: f32[1,1,3,3] = AveragePool(%t) {kernel_shape=[2,2]} "pool" })",
                {"fold_pad"}, 1);
}

TEST(FoldPad, LeavesPadsOfChannelsAndOtherFillings) {
  expect_folded(R"(graph g(%x: f32[1,1,3,3]) -> (%y) { opset ai.onnx 26
  constant %p = i64[8]{0,1,0,0,0,0,0,0}
  constant %w = f32[1,2,1,1]{1.0,-2.0}
  %t: f32[1,2,3,3] = Pad(%x, %p) "pad"
  %y: f32[1,1,3,3] = Conv(%t, %w) "conv" })",
                {"fold_pad"}, 2);
  const Graph filled = graph_of(R"(graph g(%x: f32[1,1,3,3]) -> (%y) { opset ai.onnx 26
  constant %p = i64[8]{0,0,1,1,0,0,1,1}
  constant %one = f32[]{1.0}
  constant %w = f32[1,1,1,1]{2.0}
  %t: f32[1,1,5,5] = Pad(%x, %p, %one) "pad"
  %y: f32[1,1,5,5] = Conv(%t, %w) "conv" })");
  EXPECT_EQ(simplified(filled, only({"fold_pad"})), filled);
}

TEST(FoldSpaceToDepth, MakesOneConvolutionOfSlices) {
  const std::string nodes = R"(
  constant %zero = i64[1]{0}
  constant %one = i64[1]{1}
  constant %two = i64[1]{2}
  constant %three = i64[1]{3}
  constant %end = i64[1]{9223372036854775807}
  constant %w = f32[1,4,2,1]{1.0,-2.0,3.0,4.0,0.5,0.25,-1.0,2.0}
  %e: f32[1,1,2,4] = Slice(%x, %zero, %end, %two, %two) "even"
  %o: f32[1,1,2,4] = Slice(%x, %one, %end, %two, %two) "odd"
  %a: f32[1,1,2,2] = Slice(%e, %zero, %end, %three, %two) "a"
  %b: f32[1,1,2,2] = Slice(%o, %zero, %end, %three, %two) "b"
  %c: f32[1,1,2,2] = Slice(%e, %one, %end, %three, %two) "c"
  %d: f32[1,1,2,2] = Slice(%o, %one, %end, %three, %two) "d"
)";
  const std::string head = "graph g(%x: f32[1,1,4,4]) -> (%y) { opset ai.onnx 26" + nodes;
  expect_folded(head + R"(
  %t: f32[1,4,2,2] = Concat(%a, %b, %c, %d) {axis=1} "t"
  %y: f32[1,1,3,2] = Conv(%t, %w) {pads=[1,0,1,0]} "conv" })",
                {"fold_space_to_depth"}, 1);
  expect_folded(head + R"(
  %t: f32[1,4,2,2] = Concat(%a, %b, %c, %c) {axis=1} "t"
  %y: f32[1,1,3,2] = Conv(%t, %w) {pads=[1,0,1,0]} "conv" })",
                {"fold_space_to_depth", "remove_dead"}, 7);
}

TEST(FoldConstants, AsksOnceForEverything) {
  const Graph before = graph_of(R"(graph g(%x: f32[2]) -> (%y, %z) { opset ai.onnx 26
  constant %a = f32[2]{1.0,2.0}
  constant %b = f32[2]{3.0,4.0}
  %s: f32[2] = Add(%a, %b) "s"
  %t: f32[2] = Mul(%s, %b) "t"
  %u: f32[2] = Sub(%a, %b) "u"
  %y: f32[2] = Div(%x, %t) "y"
  %z: f32[2] = Div(%x, %u) "z" })");
  int calls = 0;
  const Evaluator counting = [&](const Graph& graph) {
    ++calls;
    EXPECT_TRUE(graph.inputs.empty());
    return tiny_evaluator()(graph);
  };
  const auto result = simplify(before, only({"fold_constants"}), counting);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result->graph.nodes.size(), 2U);
  expect_same_meaning(before, result->graph);
}

TEST(FoldConstants, GoesOnWithoutWhatTheEvaluatorRefuses) {
  const Graph before = graph_of(R"(graph g(%x: f32[2]) -> (%y, %z) { opset ai.onnx 26
  constant %a = f32[2]{1.0,2.0}
  %s: f32[2] = Add(%a, %a) "s"
  %t: f32[2] = Unheard(%a) "t"
  %y: f32[2] = Div(%x, %s) "y"
  %z: f32[2] = Div(%x, %t) "z" })");
  const auto result = simplify(before, only({"fold_constants"}), tiny_evaluator());
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->graph.nodes.size(), 3U);
  EXPECT_EQ(result->passes.at(0).name, "fold_constants");
}

TEST(FoldConstants, LeavesRandomNodesAndOutputs) {
  const Graph before = graph_of(R"(graph g() -> (%y, %z) { opset ai.onnx 26
  constant %a = f32[2]{1.0,2.0}
  %r: f32[2] = RandomNormalLike(%a) "r"
  %y: f32[2] = Neg(%r) "y"
  %z: f32[2] = Add(%a, %a) "z" })");
  EXPECT_EQ(simplified(before, only({"fold_constants"})), before);
}

TEST(ResolveShapes, MakesShapesConstantAndTargetsPlain) {
  const Graph before = graph_of(R"(graph g(%x: f32[2,3,4]) -> (%y) { opset ai.onnx 26
  constant %i = i64[1]{1}
  constant %m = i64[1]{-1}
  %s: i64[3] = Shape(%x) "shape"
  %g: i64[1] = Gather(%s, %i) "gather"
  %t: i64[2] = Concat(%g, %m) {axis=0} "target"
  %y: f32[3,8] = Reshape(%x, %t) "reshape" })");
  const Graph after = simplified(before, only({"resolve_shapes"}));
  EXPECT_EQ(to_text(after), R"(graph g(%x: f32[2,3,4]) -> (%y) {
  opset ai.onnx 26
  constant %y_shape = i64[2]{3,8}
  %y: f32[3,8] = Reshape(%x, %y_shape) "reshape"
}
)");
}

TEST(ResolveShapes, FindsTheStaticPartOfAnOpenShape) {
  const Graph before = graph_of(R"(graph g(%x: f32[N,3], %d: i64[1]) -> (%y) { opset ai.onnx 26
  constant %i = i64[]{1}
  %s: i64[2] = Shape(%x) "shape"
  %g: i64[] = Gather(%s, %i) "gather"
  %y: i64[1] = Add(%d, %g) "add" })");
  EXPECT_EQ(count(simplified(before, only({"resolve_shapes"})), "Gather"), 0U);
}

}  // namespace
}  // namespace collage::test
