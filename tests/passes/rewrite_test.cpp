#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

/// Runs the passes named and compares with the text expected.
void expect_text(const std::set<std::string>& passes, const std::string& before, const std::string& after) {
  const Graph graph = graph_of(before);
  EXPECT_EQ(to_text(simplified(graph, only(passes))), after);
}

TEST(RemoveDead, TakesWholeChains) {
  expect_text({"remove_dead"}, R"(graph g(%x: f32[2]) -> (%y) { opset ai.onnx 26
  %a: f32[2] = Neg(%x) "a"
  %b: f32[2] = Abs(%a) "b"
  %y: f32[2] = Relu(%x) "y" })",
              R"(graph g(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Relu(%x) "y"
}
)");
}

TEST(RemoveIdentities, TakesWhatTypesProve) {
  const Graph before = graph_of(R"(graph g(%x: f32[1,2,3]) -> (%y) { opset ai.onnx 26
  constant %one = f32[1]{1.0}
  constant %zero = f32[]{0.0}
  constant %pads = i64[6]{0,0,0,0,0,0}
  constant %shape = i64[3]{1,2,3}
  constant %s = i64[1]{0}
  constant %e = i64[1]{9}
  %a: f32[1,2,3] = Identity(%x) "a"
  %b: f32[1,2,3] = Mul(%one, %a) "b"
  %c: f32[1,2,3] = Add(%b, %zero) "c"
  %d: f32[1,2,3] = Pad(%c, %pads) "d"
  %f: f32[1,2,3] = Reshape(%d, %shape) "f"
  %h: f32[1,2,3] = Slice(%f, %s, %e) "h"
  %i: f32[1,2,3] = Cast(%h) {to=1} "i"
  %j: f32[1,2,3] = Concat(%i) {axis=1} "j"
  %k: f32[1,2,3] = Transpose(%j) {perm=[0,1,2]} "k"
  %l: f32[1,2,3] = Dropout(%k) "l"
  %m: f32[1,2,3] = Expand(%l, %shape) "m"
  %y: f32[1,2,3] = Relu(%m) "y" })");
  const Graph after = simplified(before, only({"remove_identities"}));
  EXPECT_EQ(to_text(after), R"(graph g(%x: f32[1,2,3]) -> (%y) {
  opset ai.onnx 26
  %y: f32[1,2,3] = Relu(%x) "y"
}
)");
}

TEST(RemoveIdentities, LeavesWhatWidensOrReverses) {
  const Graph before = graph_of(R"(graph g(%x: f32[1,3]) -> (%y, %z) { opset ai.onnx 26
  constant %ones = f32[2,1]{1.0,1.0}
  constant %s = i64[1]{-1}
  constant %e = i64[1]{-9}
  constant %axis = i64[1]{1}
  constant %step = i64[1]{-1}
  %a: f32[2,3] = Mul(%x, %ones) "a"
  %b: f32[1,3] = Slice(%x, %s, %e, %axis, %step) "b"
  %y: f32[2,3] = Relu(%a) "y"
  %z: f32[1,3] = Relu(%b) "z" })");
  EXPECT_EQ(simplified(before, only({"remove_identities"})), before);
}

TEST(RemoveIdentities, KeepsACopyOfAnInputThatIsAnOutput) {
  const Graph before = graph_of(R"(graph g(%x: f32[2]) -> (%y) { opset ai.onnx 26
  %y: f32[2] = Identity(%x) "y" })");
  EXPECT_EQ(simplified(before), before);
}

TEST(MergeTransposes, JoinsAndCancels) {
  expect_text({"merge_transposes"}, R"(graph g(%x: f32[1,2,3]) -> (%y, %z) { opset ai.onnx 26
  %a: f32[2,3,1] = Transpose(%x) {perm=[1,2,0]} "a"
  %b: f32[3,1,2] = Transpose(%a) {perm=[1,2,0]} "b"
  %c: f32[1,2,3] = Transpose(%b) {perm=[1,2,0]} "c"
  %y: f32[3,1,2] = Relu(%b) "y"
  %z: f32[1,2,3] = Relu(%c) "z" })",
              R"(graph g(%x: f32[1,2,3]) -> (%y, %z) {
  opset ai.onnx 26
  %b: f32[3,1,2] = Transpose(%x) {perm=[2,0,1]} "b"
  %y: f32[3,1,2] = Relu(%b) "y"
  %z: f32[1,2,3] = Relu(%x) "z"
}
)");
}

TEST(MergeTransposes, GivesThemToGemm) {
  const Graph before = graph_of(R"(graph g(%x: f32[2,3]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,2]{1.0,2.0,3.0,4.0}
  %t: f32[3,2] = Transpose(%x) "t"
  %y: f32[3,2] = Gemm(%t, %w) "y" })");
  const Graph after = simplified(before, only({"merge_transposes"}));
  EXPECT_EQ(after.nodes.size(), 1U);
  expect_same_meaning(before, after);
}

TEST(MergeReshapes, LeavesOneOfMany) {
  expect_text({"merge_reshapes"}, R"(graph g(%x: f32[2,1,3]) -> (%y) { opset ai.onnx 26
  constant %axes = i64[1]{1}
  constant %t = i64[2]{3,2}
  %a: f32[2,3] = Squeeze(%x, %axes) "a"
  %b: f32[3,2] = Reshape(%a, %t) "b"
  %c: f32[3,2] = Flatten(%b) {axis=1} "c"
  %y: f32[3,2] = Relu(%c) "y" })",
              R"(graph g(%x: f32[2,1,3]) -> (%y) {
  opset ai.onnx 26
  constant %c_shape = i64[2]{3,2}
  %c: f32[3,2] = Reshape(%x, %c_shape) "c"
  %y: f32[3,2] = Relu(%c) "y"
}
)");
}

TEST(ViewTransposes, BecomeReshapes) {
  expect_text({"view_transposes"}, R"(graph g(%x: f32[2,1,3]) -> (%y, %z) { opset ai.onnx 26
  %y: f32[1,2,3] = Transpose(%x) {perm=[1,0,2]} "y"
  %z: f32[3,1,2] = Transpose(%x) {perm=[2,1,0]} "z" })",
              R"(graph g(%x: f32[2,1,3]) -> (%y, %z) {
  opset ai.onnx 26
  constant %y_shape = i64[3]{1,2,3}
  %y: f32[1,2,3] = Reshape(%x, %y_shape) "y"
  %z: f32[3,1,2] = Transpose(%x) {perm=[2,1,0]} "z"
}
)");
}

TEST(EliminateCommon, SharesEqualWork) {
  expect_text({"eliminate_common"}, R"(graph g(%x: f32[2]) -> (%y) { opset ai.onnx 26
  constant %a = f32[]{2.0}
  constant %b = f32[]{2.0}
  %s: f32[2] = Mul(%x, %a) "s"
  %t: f32[2] = Mul(%x, %b) "t"
  %y: f32[2] = Add(%s, %t) "y" })",
              R"(graph g(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  constant %a = f32[]{2.0}
  %s: f32[2] = Mul(%x, %a) "s"
  %y: f32[2] = Add(%s, %s) "y"
}
)");
}

TEST(EliminateCommon, LeavesRandomNodesAndOtherAttributes) {
  const Graph before = graph_of(R"(graph g(%x: f32[2]) -> (%y, %z) { opset ai.onnx 26
  %a: f32[2] = RandomNormalLike(%x) "a"
  %b: f32[2] = RandomNormalLike(%x) "b"
  %c: f32[2] = LeakyRelu(%a) {alpha=0.1} "c"
  %d: f32[2] = LeakyRelu(%a) {alpha=0.2} "d"
  %y: f32[2] = Add(%c, %d) "y"
  %z: f32[2] = Add(%a, %b) "z" })");
  EXPECT_EQ(simplified(before, only({"eliminate_common"})), before);
}

TEST(MergeBlocks, MakesAReshapeOfAnUnfold) {
  const std::string text = R"(graph g(%x: f32[1,4,3]) -> (%y) { opset ai.onnx 26
  constant %zero = i64[1]{0}
  constant %two = i64[1]{2}
  constant %end = i64[1]{9223372036854775807}
  constant %one = i64[1]{1}
  constant %last = i64[1]{-1}
  %a: f32[1,2,3] = Slice(%x, %zero, %two, %one) "a"
  %b: f32[1,2,3] = Slice(%x, %two, %end, %one) "b"
  %c: f32[1,2,3,1] = Unsqueeze(%a, %last) "c"
  %d: f32[1,2,3,1] = Unsqueeze(%b, %last) "d"
  %y: f32[1,2,3,2] = Concat(%c, %d) {axis=3} "y" })";
  EXPECT_EQ(to_text(simplified(graph_of(text), only({"merge_blocks"}))), R"(graph g(%x: f32[1,4,3]) -> (%y) {
  opset ai.onnx 26
  constant %y_blocks_shape = i64[4]{1,2,2,3}
  %y_blocks: f32[1,2,2,3] = Reshape(%x, %y_blocks_shape) "y_blocks"
  %y: f32[1,2,3,2] = Transpose(%y_blocks) {perm=[0,2,3,1]} "y"
}
)");
}

TEST(Canonicalise, WritesEqualMeaningsAlike) {
  const Graph before = graph_of(R"(graph g(%x: f32[1,2,2,2]) -> (%y) { opset ai.onnx 26
  constant %four = f32[]{4.0}
  constant %low = f32[1,1,1,1]{-0.5}
  constant %zero = f32[]{0.0}
  constant %six = f32[]{6.0}
  constant %slope = f32[2,1,1]{0.25,0.25}
  constant %two = f32[]{2.0}
  constant %axes = i64[2]{-1,2}
  %a: f32[1,2,2,2] = Div(%x, %four) "a"
  %b: f32[1,2,2,2] = Max(%low, %a) "b"
  %c: f32[1,2,2,2] = PRelu(%b, %slope) "c"
  %d: f32[1,2,2,2] = Sub(%c, %two) "d"
  %e: f32[1,2,2,2] = Pow(%d, %two) "e"
  %f: f32[1,2,2,2] = Relu(%e) "f"
  %h: f32[1,2,2,2] = Clip(%f, %zero, %six) "h"
  %i: f32[1,2,2,2] = Sum(%h, %x) "i"
  %y: f32[1,2,1,1] = ReduceMean(%i, %axes) "y" })");
  const Graph after = simplified(before, only({"canonicalise"}));
  std::string operators;
  for (const Node& node : after.nodes) operators += node.op_type + " ";
  EXPECT_EQ(operators, "Mul Clip LeakyRelu Add Mul Clip Add GlobalAveragePool ");
  expect_same_meaning(before, after);
}

TEST(Canonicalise, MakesGemmOfAMatrixProductWithBias) {
  const Graph before = graph_of(R"(graph g(%x: f32[3,2]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,2]{1.0,2.0,3.0,4.0}
  constant %b = f32[2]{5.0,6.0}
  %t: f32[3,2] = MatMul(%x, %w) "product"
  %y: f32[3,2] = Add(%b, %t) "bias" })");
  const Graph after = simplified(before, only({"canonicalise"}));
  ASSERT_EQ(after.nodes.size(), 1U);
  EXPECT_EQ(after.nodes[0].op_type, "Gemm");
  EXPECT_EQ(after.nodes[0].name, "product");
  expect_same_meaning(before, after);
}

TEST(CanonicaliseInexact, LeavesDivisionsWhereSomethingRounds) {
  const Graph before = graph_of(R"(graph g(%x: f32[3]) -> (%y) { opset ai.onnx 26
  constant %three = f32[]{3.0}
  %t: f32[3] = Div(%x, %three) "t"
  %y: f32[3] = Floor(%t) "y" })");
  EXPECT_EQ(simplified(before), before);
}

TEST(ResolvePadding, WritesAutomaticPadsOut) {
  expect_text({"resolve_padding"}, R"(graph g(%x: f32[1,1,5,4]) -> (%y) { opset ai.onnx 26
  %y: f32[1,1,3,2] = MaxPool(%x) {auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]} "y" })",
              R"(graph g(%x: f32[1,1,5,4]) -> (%y) {
  opset ai.onnx 26
  %y: f32[1,1,3,2] = MaxPool(%x) {kernel_shape=[3,3], pads=[1,0,1,1], strides=[2,2]} "y"
}
)");
}

TEST(ResolvePadding, FindsThePadsOfATransposedConvolution) {
  const Graph after = simplified(graph_of(R"(graph g(%x: f32[1,1,3,3]) -> (%y) { opset ai.onnx 26
  constant %w = f32[1,1,3,3]{1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0}
  %y: f32[1,1,6,6] = ConvTranspose(%x, %w) {auto_pad="SAME_UPPER", strides=[2,2]} "y" })"));
  ASSERT_EQ(after.nodes.size(), 1U);
  EXPECT_EQ(*find_attribute<std::vector<std::int64_t>>(after.nodes[0], "pads"),
            (std::vector<std::int64_t>{0, 0, 1, 1}));
}

TEST(ExpandContrib, WritesFusedConvolutionsOut) {
  expect_text({"expand_contrib"}, R"(graph g(%x: f32[1,1,2,2], %z: f32[1,1,2,2]) -> (%y) { opset ai.onnx 26
  constant %w = f32[1,1,1,1]{2.0}
  constant %b = f32[1]{1.0}
  %y: f32[1,1,2,2] = com.microsoft::FusedConv(%x, %w, %b, %z) {activation="Relu", strides=[1,1]} "conv" })",
              R"(graph g(%x: f32[1,1,2,2], %z: f32[1,1,2,2]) -> (%y) {
  opset ai.onnx 26
  constant %w = f32[1,1,1,1]{2.0}
  constant %b = f32[1]{1.0}
  %y_linear: f32[1,1,2,2] = Conv(%x, %w, %b) {strides=[1,1]} "conv"
  %y_sum: f32[1,1,2,2] = Add(%y_linear, %z) "conv_sum"
  %y: f32[1,1,2,2] = Relu(%y_sum) "conv_Relu"
}
)");
}

}  // namespace
}  // namespace collage::test
