#include "tests/passes/pass_fixture.h"

namespace collage::test {
namespace {

/// The body written over %x: f32[2,3] makes %y; all passes turn it into the one operator.
void expect_becomes(const std::string& constants, const std::string& nodes, const std::string& op_type) {
  const Graph before = graph_of("graph g(%x: f32[2,3]) -> (%y) { opset ai.onnx 26\n" + constants + nodes + "}");
  const Graph after = simplified(before);
  EXPECT_EQ(after.nodes.size(), 1U) << to_text(after);
  EXPECT_EQ(count(after, op_type), 1U) << to_text(after);
  expect_same_meaning(before, after, -4, 4);
}

const std::string kGelu = R"(
  constant %half = f32[]{0.5}
  constant %one = f32[]{1.0}
  constant %r = f32[]{0.70710677}
  constant %root = f32[]{1.4142135}
  constant %cubic = f32[]{0.044715}
  constant %k = f32[]{0.7978846}
  constant %three = f32[]{3.0}
)";

TEST(RecogniseGelu, WithTheErrorFunctionInSeveralOrders) {
  expect_becomes(kGelu, R"(
  %a: f32[2,3] = Mul(%half, %x) "a"
  %b: f32[2,3] = Mul(%x, %r) "b"
  %c: f32[2,3] = Erf(%b) "c"
  %d: f32[2,3] = Add(%one, %c) "d"
  %y: f32[2,3] = Mul(%a, %d) "y")",
                 "Gelu");
  expect_becomes(kGelu, R"(
  %b: f32[2,3] = Div(%x, %root) "b"
  %c: f32[2,3] = Erf(%b) "c"
  %d: f32[2,3] = Add(%c, %one) "d"
  %e: f32[2,3] = Mul(%x, %d) "e"
  %y: f32[2,3] = Mul(%e, %half) "y")",
                 "Gelu");
}

TEST(RecogniseGelu, OfAProduct) {
  const Graph before = graph_of("graph g(%p: f32[2,3], %q: f32[2,3]) -> (%y) { opset ai.onnx 26\n" + kGelu + R"(
  %x: f32[2,3] = Mul(%p, %q) "x"
  %b: f32[2,3] = Div(%x, %root) "b"
  %c: f32[2,3] = Erf(%b) "c"
  %d: f32[2,3] = Add(%c, %one) "d"
  %e: f32[2,3] = Mul(%x, %d) "e"
  %y: f32[2,3] = Mul(%e, %half) "y" })");
  const Graph after = simplified(before);
  EXPECT_EQ(count(after, "Gelu"), 1U) << to_text(after);
  EXPECT_EQ(after.nodes.size(), 2U) << to_text(after);
  expect_same_meaning(before, after);
}

TEST(RecogniseGelu, WithTheHyperbolicTangent) {
  expect_becomes(kGelu, R"(
  %h: f32[2,3] = Mul(%x, %half) "h"
  %a: f32[2,3] = Mul(%x, %cubic) "a"
  %b: f32[2,3] = Mul(%a, %x) "b"
  %c: f32[2,3] = Mul(%b, %x) "c"
  %d: f32[2,3] = Add(%x, %c) "d"
  %e: f32[2,3] = Mul(%d, %k) "e"
  %f: f32[2,3] = Tanh(%e) "f"
  %i: f32[2,3] = Add(%f, %one) "i"
  %y: f32[2,3] = Mul(%h, %i) "y")",
                 "Gelu");
  expect_becomes(kGelu, R"(
  %a: f32[2,3] = Pow(%x, %three) "a"
  %b: f32[2,3] = Mul(%a, %cubic) "b"
  %d: f32[2,3] = Add(%x, %b) "d"
  %e: f32[2,3] = Mul(%d, %k) "e"
  %f: f32[2,3] = Tanh(%e) "f"
  %i: f32[2,3] = Add(%f, %one) "i"
  %j: f32[2,3] = Mul(%x, %i) "j"
  %y: f32[2,3] = Mul(%half, %j) "y")",
                 "Gelu");
}

TEST(RecogniseGelu, LeavesOtherConstants) {
  const Graph before = graph_of("graph g(%x: f32[2,3]) -> (%y) { opset ai.onnx 26\n" + kGelu + R"(
  %b: f32[2,3] = Mul(%x, %half) "b"
  %c: f32[2,3] = Erf(%b) "c"
  %d: f32[2,3] = Add(%c, %one) "d"
  %e: f32[2,3] = Mul(%x, %d) "e"
  %y: f32[2,3] = Mul(%e, %half) "y" })");
  EXPECT_EQ(count(simplified(before), "Gelu"), 0U);
}

const std::string kHard = R"(
  constant %zero = f32[]{0.0}
  constant %three = f32[]{3.0}
  constant %six = f32[]{6.0}
)";

TEST(RecogniseHardSwish, InBothOrdersOfDivision) {
  expect_becomes(kHard, R"(
  %a: f32[2,3] = Add(%x, %three) "a"
  %b: f32[2,3] = Clip(%a, %zero, %six) "b"
  %c: f32[2,3] = Mul(%x, %b) "c"
  %y: f32[2,3] = Div(%c, %six) "y")",
                 "HardSwish");
  expect_becomes(kHard, R"(
  %a: f32[2,3] = Add(%x, %three) "a"
  %b: f32[2,3] = Clip(%a, %zero, %six) "b"
  %c: f32[2,3] = Div(%b, %six) "c"
  %y: f32[2,3] = Mul(%x, %c) "y")",
                 "HardSwish");
}

TEST(RecogniseHardSigmoid, WithoutTheLeadingFactor) {
  expect_becomes(kHard, R"(
  %a: f32[2,3] = Add(%x, %three) "a"
  %b: f32[2,3] = Clip(%a, %zero, %six) "b"
  %y: f32[2,3] = Div(%b, %six) "y")",
                 "HardSigmoid");
}

TEST(RecogniseMish, FromLogarithmAndExponential) {
  expect_becomes("constant %one = f32[]{1.0}\n", R"(
  %a: f32[2,3] = Exp(%x) "a"
  %b: f32[2,3] = Add(%a, %one) "b"
  %c: f32[2,3] = Log(%b) "c"
  %d: f32[2,3] = Tanh(%c) "d"
  %y: f32[2,3] = Mul(%x, %d) "y")",
                 "Mish");
}

const std::string kLayerNorm = R"(
  constant %last = i64[1]{-1}
  constant %two = f32[]{2.0}
  constant %eps = f32[]{0.001}
  constant %g = f32[3]{1.5,0.5,-2.0}
  constant %b = f32[3]{0.1,0.2,0.3}
)";
const std::string kNormalised = R"(
  %m: f32[2,1] = ReduceMean(%x, %last) "m"
  %d: f32[2,3] = Sub(%x, %m) "d"
  %s: f32[2,3] = Pow(%d, %two) "s"
  %v: f32[2,1] = ReduceMean(%s, %last) "v"
  %e: f32[2,1] = Add(%v, %eps) "e"
  %r: f32[2,1] = Sqrt(%e) "r"
)";

TEST(RecogniseLayerNorm, WithScaleAndShift) {
  expect_becomes(kLayerNorm, kNormalised + R"(
  %n: f32[2,3] = Div(%d, %r) "n"
  %t: f32[2,3] = Mul(%n, %g) "t"
  %y: f32[2,3] = Add(%t, %b) "y")",
                 "LayerNormalization");
}

TEST(RecogniseLayerNorm, WithScaleOnlyAndBare) {
  expect_becomes(kLayerNorm, kNormalised + R"(
  %n: f32[2,3] = Div(%d, %r) "n"
  %y: f32[2,3] = Mul(%g, %n) "y")",
                 "LayerNormalization");
  expect_becomes(kLayerNorm, kNormalised + R"(%y: f32[2,3] = Div(%d, %r) "y")", "LayerNormalization");
}

TEST(RecogniseLayerNorm, LeavesANormalisationOverLeadingAxes) {
  const Graph before = graph_of(R"(graph g(%x: f32[2,3]) -> (%y) { opset ai.onnx 26
  constant %first = i64[1]{0}
  constant %eps = f32[]{0.001}
  %m: f32[1,3] = ReduceMean(%x, %first) "m"
  %d: f32[2,3] = Sub(%x, %m) "d"
  %s: f32[2,3] = Mul(%d, %d) "s"
  %v: f32[1,3] = ReduceMean(%s, %first) "v"
  %e: f32[1,3] = Add(%v, %eps) "e"
  %r: f32[1,3] = Sqrt(%e) "r"
  %y: f32[2,3] = Div(%d, %r) "y" })");
  EXPECT_EQ(simplified(before), before);
}

TEST(Recognise, IsNotPartOfClassStrict) {
  const Graph before = graph_of("graph g(%x: f32[2,3]) -> (%y) { opset ai.onnx 26\n" + kLayerNorm + kNormalised +
                                R"(%y: f32[2,3] = Div(%d, %r) "y" })");
  PassOptions strict;
  strict.accuracy = Accuracy::kStrict;
  EXPECT_EQ(count(simplified(before, strict), "LayerNormalization"), 0U);
}

}  // namespace
}  // namespace collage::test
