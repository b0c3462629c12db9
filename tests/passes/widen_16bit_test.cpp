#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

TEST(Widen16Bit, ComputesInsideInSingle) {
  const Graph before = graph_of(R"(graph g(%x: f16[2]) -> (%y) { opset ai.onnx 26
  constant %w = f16[2]{1.5,-2.0}
  %a: f16[2] = Mul(%x, %w) "mul"
  %y: f16[2] = Relu(%a) "relu" })");
  EXPECT_EQ(to_text(simplified(before)), R"(graph g(%x: f16[2]) -> (%y) {
  opset ai.onnx 26
  constant %w_f32 = f32[2]{1.5,-2.0}
  %x_f32: f32[2] = Cast(%x) {to=1} "x_cast"
  %a_f32: f32[2] = Mul(%x_f32, %w_f32) "mul"
  %y_f32: f32[2] = Relu(%a_f32) "relu"
  %y: f16[2] = Cast(%y_f32) {to=10} "y_f32_cast"
}
)");
}

TEST(Widen16Bit, LeavesConversionsAtTheBorder) {
  const Graph before = graph_of(R"(graph g(%x: bf16[2]) -> (%y) { opset ai.onnx 26
  %a: f32[2] = Cast(%x) {to=1} "in"
  %b: f32[2] = Relu(%a) "relu"
  %y: bf16[2] = Cast(%b) {to=16} "out" })");
  EXPECT_EQ(simplified(before), before);
}

TEST(Widen16Bit, DropsRoundingsInside) {
  const Graph before = graph_of(R"(graph g(%x: f32[2]) -> (%y) { opset ai.onnx 26
  %a: f16[2] = Cast(%x) {to=10} "down"
  %b: f16[2] = Relu(%a) "relu"
  %y: f32[2] = Cast(%b) {to=1} "up" })");
  const Graph after = simplified(before);
  ASSERT_EQ(after.nodes.size(), 1U) << to_text(after);
  EXPECT_EQ(after.nodes[0].op_type, "Relu");
}

TEST(Widen16Bit, LeavesVendorOperatorsTheirType) {
  const Graph before = graph_of(R"(graph g(%x: f16[2]) -> (%y) { opset ai.onnx 26
  %a: f16[2] = Relu(%x) "relu"
  %y: f16[2] = com.vendor::Special(%a) "special" })");
  const Graph after = simplified(before);
  EXPECT_EQ(after.nodes.size(), 4U) << to_text(after);
  EXPECT_EQ(simplified(after), after);
}

}  // namespace
}  // namespace collage::test
