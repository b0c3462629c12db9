#include "passes/editor.h"

#include "tests/passes/pass_fixture.h"

namespace collage {
namespace {

using test::graph_of;

const char* const kChain = R"(graph chain(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %a: f32[2] = Relu(%x) "a"
  %b: f32[2] = Identity(%a) "b"
  %y: f32[2] = Neg(%b) "y"
})";

TEST(Editor, BypassGivesReadersTheOtherValue) {
  Graph graph = graph_of(kChain);
  Editor editor(graph);
  ASSERT_TRUE(editor.bypass(NodeId{1}, graph.nodes[0].outputs[0]));
  ASSERT_TRUE(editor.finish().has_value());
  EXPECT_EQ(to_text(graph), R"(graph chain(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %a: f32[2] = Relu(%x) "a"
  %y: f32[2] = Neg(%a) "y"
}
)");
}

TEST(Editor, BypassKeepsTheNameOfAnOutput) {
  Graph graph = graph_of(R"(graph g(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %a: f32[2] = Relu(%x) "a"
  %y: f32[2] = Identity(%a) "copy"
})");
  Editor editor(graph);
  ASSERT_TRUE(editor.bypass(NodeId{1}, graph.nodes[0].outputs[0]));
  ASSERT_TRUE(editor.finish().has_value());
  EXPECT_EQ(to_text(graph), R"(graph g(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Relu(%x) "a"
}
)");
}

TEST(Editor, BypassRefusesToMakeAnInputAnOutput) {
  Graph graph = graph_of(R"(graph g(%x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = Identity(%x) "copy"
})");
  Editor editor(graph);
  EXPECT_FALSE(editor.bypass(NodeId{0}, graph.inputs[0]));
  EXPECT_FALSE(editor.changed());
}

TEST(Editor, RemovesWhatLosesItsLastReader) {
  Graph graph = graph_of(kChain);
  Editor editor(graph);
  editor.set_input(NodeId{2}, 0, graph.inputs[0]);
  EXPECT_FALSE(editor.is_live(NodeId{0}));
  EXPECT_FALSE(editor.is_live(NodeId{1}));
  ASSERT_TRUE(editor.finish().has_value());
  EXPECT_EQ(graph.nodes.size(), 1U);
}

TEST(Editor, InsertsNodesBeforeTheirAnchorUnderFreshNames) {
  Graph graph = graph_of(kChain);
  Editor editor(graph);
  const ValueId twice = editor.add_value("a", ValueType::tensor(ElementType::kFloat32, {2}));
  EXPECT_EQ(editor.value(twice).name, "a_1");
  editor.insert_before(NodeId{1}, Node{.name = "b",
                                       .domain = {},
                                       .op_type = "Abs",
                                       .inputs = {graph.inputs[0]},
                                       .outputs = {twice},
                                       .captures = {},
                                       .attributes = {}});
  editor.set_input(NodeId{1}, 0, twice);
  ASSERT_TRUE(editor.finish().has_value());
  ASSERT_TRUE(verify(graph).has_value());
  EXPECT_EQ(graph.nodes[0].name, "b_1");
  EXPECT_EQ(graph.nodes[0].op_type, "Abs");
}

TEST(Editor, ValuesThatBodiesReadStay) {
  Graph graph = graph_of(R"(graph g(%c: bool[], %x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %a: f32[2] = Identity(%x) "a"
  %y: f32[2] = If(%c) captures(%a) {else_branch=graph e() -> (%r) {
    capture %a: f32[2]
    %r: f32[2] = Neg(%a) "n"
  }, then_branch=graph t() -> (%q) {
    capture %a: f32[2]
    %q: f32[2] = Abs(%a) "p"
  }} "if"
})");
  Editor editor(graph);
  EXPECT_TRUE(editor.is_pinned(graph.nodes[0].outputs[0]));
  EXPECT_FALSE(editor.bypass(NodeId{0}, graph.inputs[1]));
}

}  // namespace
}  // namespace collage
