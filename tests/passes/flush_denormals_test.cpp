#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

Graph flushed(const std::string& text) { return simplified(graph_of(text), only({"flush_denormals"})); }

const Tensor& constant(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.values, name, &Value::name);
  COLLAGE_CHECK(found != graph.values.end() && found->constant, name);
  return *found->constant;
}

/// A graph of one Conv with these four weights.
std::string convolution(const std::string& weights) {
  return "graph g(%x: f32[1,1,3,3]) -> (%y) { opset ai.onnx 26\n  constant %w = f32[1,1,2,2]{" + weights + R"(}
  %y: f32[1,1,2,2] = Conv(%x, %w) "conv" })";
}

TEST(FlushDenormals, SetsWeightsBelowTheLeastNormalNumberToZero) {
  const Graph after = flushed(convolution("1e-39,-2e-40,0.5,1.2e-38"));
  const auto weights = constant(after, "w_flushed").data.as<float>();
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.end()), (std::vector<float>{0, 0, 0.5F, 1.2e-38F}));
}

TEST(FlushDenormals, LeavesWeightsWithoutAnyAndThoseThatAreAllTiny) {
  for (const std::string weights : {"0.0,-0.0,0.5,1.2e-38", "1e-39,-2e-40,1e-38,1e-31"}) {
    const Graph before = graph_of(convolution(weights));
    EXPECT_EQ(simplified(before, only({"flush_denormals"})), before) << weights;
  }
}

TEST(FlushDenormals, LeavesWhatIsNotMultipliedOrAdded) {
  const Graph before = graph_of(R"(graph g(%x: f32[2]) -> (%y, %z) { opset ai.onnx 26
  constant %c = f32[2]{1e-39,1.0}
  %y: f32[2] = Div(%x, %c) "divide"
  %z: bool[2] = Greater(%x, %c) "compare" })");
  EXPECT_EQ(simplified(before, only({"flush_denormals"})), before);
}

TEST(FlushDenormals, KeepsAConstantForItsOtherReaders) {
  const Graph after = flushed(R"(graph g(%x: f32[2]) -> (%y, %z, %u) { opset ai.onnx 26
  constant %c = f32[2]{1e-39,1.0}
  %y: f32[2] = Div(%x, %c) "divide"
  %z: f32[2] = Mul(%x, %c) "multiply"
  %u: f32[2] = Add(%c, %x) "add" })");
  EXPECT_EQ(constant(after, "c").data.as<float>()[0], 1e-39F);
  EXPECT_EQ(constant(after, "c_flushed").data.as<float>()[0], 0.0F);
  EXPECT_EQ(after.node(NodeId{1}).inputs[1], after.node(NodeId{2}).inputs[0]);
  EXPECT_NE(after.node(NodeId{0}).inputs[1], after.node(NodeId{1}).inputs[1]);
}

TEST(FlushDenormals, DoesNothingInClassStrict) {
  PassOptions options = only({"flush_denormals"});
  options.accuracy = Accuracy::kStrict;
  const Graph before = graph_of(convolution("1e-39,-2e-40,0.5,1.2e-38"));
  EXPECT_EQ(simplified(before, options), before);
}

}  // namespace
}  // namespace collage::test
