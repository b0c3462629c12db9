#include "passes/min_cut.h"
#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

TEST(MinCut, FindsTheSmallestCheapestSide) {
  MinCut cut;
  const std::size_t a = cut.add_node();
  const std::size_t b = cut.add_node();
  cut.add_edge(MinCut::kSource, a, 3);
  cut.add_edge(a, b, 3);
  cut.add_edge(b, MinCut::kSink, 5);
  EXPECT_EQ(cut.solve(), 3);
  EXPECT_FALSE(cut.is_source_side(a));
  EXPECT_FALSE(cut.is_source_side(b));
}

TEST(SinkTransposes, CancelsPairsAroundElementwiseNodes) {
  const Graph before = graph_of(R"(graph g(%x: f32[1,2,4,4]) -> (%y) { opset ai.onnx 26
  constant %w = f32[2,1,1,1]{2.0,3.0}
  constant %slope = f32[1,1,2]{0.25,0.5}
  constant %s = f32[2]{1.0,-2.0}
  constant %pads = i64[8]{0,0,1,0,0,2,0,0}
  %a: f32[1,2,4,4] = Conv(%x, %w) {group=2} "a"
  %b: f32[1,4,4,2] = Transpose(%a) {perm=[0,2,3,1]} "b"
  %c: f32[1,4,4,2] = PRelu(%b, %slope) "c"
  %d: f32[1,4,4,2] = Add(%c, %s) "d"
  %e: f32[1,6,5,2] = Pad(%d, %pads) "e"
  %f: f32[1,2,6,5] = Transpose(%e) {perm=[0,3,1,2]} "f"
  %y: f32[1,2,6,5] = Conv(%f, %w) {group=2} "y" })");
  const Graph after = simplified(before, only({"sink_transposes"}));
  EXPECT_EQ(count(after, "Transpose"), 0U) << to_text(after);
  expect_same_meaning(before, after);
}

TEST(SinkTransposes, MovesSeveralTogether) {
  // Neither transposition alone can pass the sum; both together leave one.
  const Graph before = graph_of(R"(graph g(%p: f32[1,2,3,3], %q: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26
  constant %last = i64[2]{1,2}
  %a: f32[1,3,3,2] = Transpose(%p) {perm=[0,2,3,1]} "a"
  %b: f32[1,3,3,2] = Transpose(%q) {perm=[0,2,3,1]} "b"
  %c: f32[1,3,3,2] = Add(%a, %b) "c"
  %d: f32[1,3,3,4] = Concat(%c, %b) {axis=-1} "d"
  %e: f32[1,3,3,4] = Relu(%d) "e"
  %y: f32[1,4] = ReduceMean(%e, %last) {keepdims=0} "y" })");
  const Graph after = simplified(before, only({"sink_transposes"}));
  EXPECT_EQ(count(after, "Transpose"), 0U) << to_text(after);
  expect_same_meaning(before, after);
}

TEST(SinkTransposes, LeavesAnOutputInItsOrder) {
  const Graph before = graph_of(R"(graph g(%p: f32[1,2,3,3], %q: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26
  %a: f32[1,3,3,2] = Transpose(%p) {perm=[0,2,3,1]} "a"
  %b: f32[1,3,3,2] = Transpose(%q) {perm=[0,2,3,1]} "b"
  %c: f32[1,3,3,2] = Add(%a, %b) "c"
  %y: f32[1,3,3,2] = Relu(%c) "d" })");
  const Graph after = simplified(before, only({"sink_transposes"}));
  EXPECT_EQ(count(after, "Transpose"), 1U) << to_text(after);
  expect_same_meaning(before, after);
}

TEST(SinkTransposes, DoesNothingWithoutGain) {
  const Graph before = graph_of(R"(graph g(%p: f32[1,2,3,3]) -> (%y) { opset ai.onnx 26
  %a: f32[1,3,3,2] = Transpose(%p) {perm=[0,2,3,1]} "a"
  %b: f32[1,3,3,2] = Relu(%a) "b"
  %y: f32[1,3,3,2] = Relu(%b) "c" })");
  EXPECT_EQ(simplified(before, only({"sink_transposes"})), before);
}

TEST(SinkTransposes, KeepsTheOneThatOthersNeed) {
  const Graph before = graph_of(R"(graph g(%p: f32[1,2,3,3]) -> (%y, %z) { opset ai.onnx 26
  constant %t = i64[2]{9,2}
  %a: f32[1,3,3,2] = Transpose(%p) {perm=[0,2,3,1]} "a"
  %b: f32[1,3,3,2] = Relu(%a) "b"
  %y: f32[1,2,3,3] = Transpose(%b) {perm=[0,3,1,2]} "y"
  %z: f32[9,2] = Reshape(%b, %t) "z" })");
  const Graph after = simplified(before, only({"sink_transposes"}));
  EXPECT_EQ(count(after, "Transpose"), 1U) << to_text(after);
  expect_same_meaning(before, after);
}

}  // namespace
}  // namespace collage::test
