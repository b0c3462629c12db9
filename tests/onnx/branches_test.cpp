#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Branches, AKnownConditionTakesItsBranch) {
  for (const bool taken : {true, false}) {
    const Graph graph = imported_graph(
        opset_model(13, std::string("g (float[2] x) => (float[2] y) <bool c = {") + (taken ? "1" : "0") + R"(}> {
        y = If(c) <then_branch = t () => (float[2] a) { a = Relu(x) }, else_branch = e () => (float[2] b) { b = Neg(x) }> })"));
    EXPECT_THAT(operators_of(graph), ElementsAre(taken ? "Relu" : "Neg"));
    EXPECT_EQ(type_of(graph, "y"), "f32[2]");
  }
}

TEST(Branches, AConditionComputedFromShapesIsKnown) {
  const Graph graph = imported_graph(opset_model(13, R"(g (float[N, 3] x) => (float[a, b] y) {
      s = Shape(x)
      zero = Constant<value = int64 {0}>()
      n = Gather(s, zero)
      one = Constant<value = int64 {1}>()
      c = Equal(n, one)
      y = If(c) <then_branch = t () => (float[3] a) { axes = Constant<value = int64[1] {0}>() a = Squeeze(x, axes) },
                 else_branch = e () => (float[b0, b1] b) { b = Neg(x) }> })"),
                                     {"N=4"});
  EXPECT_THAT(operators_of(graph), ElementsAre("Neg"));
  EXPECT_EQ(type_of(graph, "y"), "f32[4,3]");
}

TEST(Branches, ThatDoNotFitTheShapesGiveWayAndLeaveANote) {
  const auto imported = import_with(opset_model(13, R"(g (bool c, float[N, 3] x, float[4, 3] w) => (float[a, b] y) {
      [rate] y = If(c) <then_branch = t () => (float[a0, a1] a) { a = Add(x, w) },
                        else_branch = e () => (float[b0, b1] b) { axes = Constant<value = int64[1] {0}>() q = Squeeze(x, axes) b = Relu(q) }> })"),
                                    {"N=4"});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_THAT(operators_of(imported->graph), ElementsAre("Add"));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("'rate'")));
}

TEST(Branches, ThatDependOnTheInputStay) {
  const auto imported = import_with(opset_model(13, R"(g (bool c, float[2] x) => (float[2] y) {
      y = If(c) <then_branch = t () => (float[2] a) { a = Relu(x) }, else_branch = e () => (float[2] b) { b = Neg(x) }> })"));
  ASSERT_TRUE(imported);
  EXPECT_THAT(operators_of(imported->graph), ElementsAre("If"));
  EXPECT_THAT(imported->notes, IsEmpty());
}

TEST(Branches, InlinedSideBySideMayUseTheSameNames) {
  const Graph graph = imported_graph(opset_model(13, R"(g (float[2] x) => (float[2] y, float[2] z) <bool c = {1}> {
      y = If(c) <then_branch = t () => (float[2] a) { k = Relu(x) a = Add(k, k) }, else_branch = e () => (float[2] b) { b = Neg(x) }>
      z = If(c) <then_branch = t2 () => (float[2] a) { k = Abs(x) a = Mul(k, k) }, else_branch = e2 () => (float[2] b) { b = Neg(x) }> })"));
  EXPECT_THAT(operators_of(graph), ElementsAre("Relu", "Add", "Abs", "Mul"));
  EXPECT_EQ(graph.nodes[1].inputs[0], graph.nodes[0].outputs[0]);
  EXPECT_EQ(graph.nodes[3].inputs[0], graph.nodes[2].outputs[0]);
}

TEST(Branches, ThatReturnAConstantOrAValueTwiceCopyIt) {
  const Graph graph =
      imported_graph(opset_model(13, R"(g (float[2] x) => (float[2] y, float[2] z, float[2] w) <bool c = {1}> {
      y, z, w = If(c) <then_branch = t () => (float[2] k, float[2] k2, float[2] k2) <float[2] k = {1, 2}> { k2 = Relu(x) },
                       else_branch = e () => (float[2] b, float[2] b, float[2] b) { b = Neg(x) }> })"));
  EXPECT_EQ(graph.value(graph.outputs[2]).name, "w");
  EXPECT_THAT(operators_of(graph), ::testing::UnorderedElementsAre("Relu", "Identity", "Identity"));
}

}  // namespace
}  // namespace collage::testing
