// Numbers of nets against plain loops: single operators, what is fused, and regions of several operators.
#include "mnn_fixture.h"

namespace collage::test {
namespace {

using testing::ElementsAre;

TEST(MnnConvolution, TakesWindowsGroupsAndChannelsOfAnyNumber) {
  for (const char* text : {
           "graph(%x: f32[1,17,9,7], %w: f32[33,17,3,3], %wb: f32[33]) -> (%y) { %y: f32[1,33,9,7] = Conv(%x, %w, %wb) "
           "{pads=[1,1,1,1]} }",
           "graph(%x: f32[2,16,9,8], %w: f32[24,16,3,5]) -> (%y) { %y: f32[2,24,4,7] = Conv(%x, %w) {pads=[1,0,0,3], "
           "strides=[2,1]} }",
           "graph(%x: f32[1,5,12,11], %w: f32[7,5,3,2]) -> (%y) { %y: f32[1,7,8,10] = Conv(%x, %w) {dilations=[2,1]} }",
           "graph(%x: f32[1,12,9,7], %w: f32[18,4,3,3], %wb: f32[18]) -> (%y) { %y: f32[1,18,9,7] = Conv(%x, %w, %wb) "
           "{group=3, pads=[1,1,1,1]} }",
           "graph(%x: f32[2,20,9,7], %w: f32[20,1,3,3], %wb: f32[20]) -> (%y) { %y: f32[2,20,9,7] = Conv(%x, %w, %wb) "
           "{group=20, pads=[1,1,1,1]} }",
           "graph(%x: f32[2,3,11,10], %w: f32[6,3,1,1], %wb: f32[6]) -> (%y) { %y: f32[2,6,11,10] = Conv(%x, %w, %wb) "
           "}",
       })
    EXPECT_FALSE(expect_right(text).empty());
}

TEST(MnnConvolution, FusesReluAndClipAtSix) {
  for (const char* activation : {"Relu(%c)", "Clip(%c, %l, %h)"})
    expect_right(std::string("graph(%x: f32[1,17,9,7], %w: f32[20,17,3,3], %wb: f32[20]) -> (%y) { constant %l = "
                             "f32[]{0} constant %h = f32[]{6} %c: f32[1,20,9,7] = Conv(%x, %w, %wb) {pads=[1,1,1,1]} "
                             "%y: f32[1,20,9,7] = ") +
                 activation + " }");
}

/// The convolution's own result leaves too: nothing may be fused into it.
TEST(MnnConvolution, IsNotChangedByAnActivationWhenItsResultIsReadElsewhere) {
  expect_right(
      "graph(%x: f32[1,17,9,7], %w: f32[20,17,3,3]) -> (%c, %y) { %c: f32[1,20,9,7] = Conv(%x, %w) {pads=[1,1,1,1]} "
      "%y: f32[1,20,9,7] = Relu(%c) }");
  expect_right(
      "graph(%x: f32[1,17,9,7], %w: f32[20,17,3,3]) -> (%y) { %c: f32[1,20,9,7] = Conv(%x, %w) {pads=[1,1,1,1]} %r: "
      "f32[1,20,9,7] = Relu(%c) %y: f32[1,20,9,7] = Add(%c, %r) }");
}

TEST(MnnConvolution, RunsInSeriesWithResidualsAndConcat) {
  expect_right(
      "graph(%x: f32[1,20,9,7], %w: f32[20,20,3,3], %wb: f32[20,20,1,1]) -> (%y) { %a: f32[1,20,9,7] = Conv(%x, %w) "
      "{pads=[1,1,1,1]} %r: f32[1,20,9,7] = Relu(%a) %b: f32[1,20,9,7] = Conv(%r, %wb) %s: f32[1,20,9,7] = Add(%b, %x) "
      "%y: f32[1,20,9,7] = Relu(%s) }");
}

/// Lanes of the last block that stand for no channel become infinite; the next convolution does not see that.
TEST(MnnConvolution, IsNotSpoiledByTheLanesOfNoChannel) {
  expect_right(
      "graph(%x: f32[1,5,9,7], %w: f32[5,5,3,3], %wb: f32[6,5,3,3]) -> (%y) { constant %k = f32[]{9} %a: f32[1,5,9,7] "
      "= Conv(%x, %w) {pads=[1,1,1,1]} %g: f32[1,5,9,7] = Abs(%a) %h: f32[1,5,9,7] = Add(%g, %k) %r: f32[1,5,9,7] = "
      "Reciprocal(%h) %y: f32[1,6,9,7] = Conv(%r, %wb) {pads=[1,1,1,1]} }");
  expect_right(
      "graph(%x: f32[1,5,9,7], %z: f32[1,5,9,7], %w: f32[5,5,3,3], %wb: f32[6,5,3,3]) -> (%y) { constant %k = "
      "f32[]{9} %a: f32[1,5,9,7] = Conv(%x, %w) {pads=[1,1,1,1]} %h: f32[1,5,9,7] = Add(%z, %k) %r: f32[1,5,9,7] = "
      "Div(%a, %h) %y: f32[1,6,9,7] = Conv(%r, %wb) {pads=[1,1,1,1]} }");
}

TEST(MnnDeconvolution, CutsItsPadding) {
  expect_right(
      "graph(%x: f32[1,17,5,4], %w: f32[17,20,3,3], %wb: f32[20]) -> (%y) { %y: f32[1,20,9,7] = ConvTranspose(%x, %w, "
      "%wb) {pads=[1,1,1,1], strides=[2,2]} }");
  expect_right(
      "graph(%x: f32[1,8,5,4], %w: f32[8,6,2,2]) -> (%y) { %c: f32[1,6,10,8] = ConvTranspose(%x, %w) {strides=[2,2]} "
      "%y: f32[1,6,10,8] = Relu(%c) }");
}

TEST(MnnPooling, RoundsAndCountsAsOnnxDoes) {
  for (const char* text : {
           "graph(%x: f32[1,17,9,8]) -> (%y) { %y: f32[1,17,4,4] = MaxPool(%x) {kernel_shape=[2,2], strides=[2,2]} }",
           "graph(%x: f32[2,17,9,8]) -> (%y) { %y: f32[2,17,5,4] = MaxPool(%x) {kernel_shape=[3,3], pads=[1,1,1,1], "
           "strides=[2,2]} }",
           "graph(%x: f32[1,17,9,8]) -> (%y) { %y: f32[1,17,5,4] = MaxPool(%x) {ceil_mode=1, kernel_shape=[2,2], "
           "strides=[2,2]} }",
           "graph(%x: f32[1,17,9,8]) -> (%y) { %y: f32[1,17,9,8] = AveragePool(%x) {kernel_shape=[3,3], "
           "pads=[1,1,1,1]} }",
           "graph(%x: f32[1,17,9,8]) -> (%y) { %y: f32[1,17,9,8] = AveragePool(%x) {count_include_pad=1, "
           "kernel_shape=[3,3], pads=[1,1,1,1]} }",
           "graph(%x: f32[2,17,9,8]) -> (%y) { %y: f32[2,17,1,1] = GlobalAveragePool(%x) }",
           "graph(%x: f32[2,17,9,8]) -> (%y) { %y: f32[2,17,1,1] = GlobalMaxPool(%x) }",
       })
    EXPECT_THAT(expect_right(text), testing::Contains("channels_last"));
}

TEST(MnnProduct, PacksAConstantMatrix) {
  EXPECT_THAT(expect_right("graph(%a: f32[7,17], %w: f32[17,33]) -> (%y) { %m: f32[7,33] = MatMul(%a, %w) %y: "
                           "f32[7,33] = Relu(%m) }"),
              ElementsAre("plain.direct", "plain.winograd=0"));
  expect_right(
      "graph(%a: f32[2,3,7,16], %w: f32[16,5], %wb: f32[5]) -> (%y) { %m: f32[2,3,7,5] = MatMul(%a, %w) %y: "
      "f32[2,3,7,5] = Add(%m, %wb) }");
  expect_right(
      "graph(%a: f32[7,24], %w: f32[17,24], %wc: f32[17]) -> (%y) { %g: f32[7,17] = Gemm(%a, %w, %wc) {transB=1} %y: "
      "f32[7,17] = Relu(%g) }");
  expect_right("graph(%a: f32[7,24], %w: f32[24,17], %wc: f32[7,1]) -> (%y) { %y: f32[7,17] = Gemm(%a, %w, %wc) }");
}

TEST(MnnProduct, TakesComputedMatricesAndBatches) {
  expect_right("graph(%a: f32[7,16], %b: f32[16,5]) -> (%y) { %y: f32[7,5] = MatMul(%a, %b) }");
  expect_right("graph(%a: f32[2,3,7,16], %b: f32[2,1,16,5]) -> (%y) { %y: f32[2,3,7,5] = MatMul(%a, %b) }");
  expect_right(
      "graph(%a: f32[24,7], %b: f32[17,24], %c: f32[17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %b, %c) "
      "{transA=1, transB=1} }");
}

TEST(MnnElementwise, ComputesChainsWithBroadcasts) {
  expect_right(
      "graph(%a: f32[2,7,5,3], %b: f32[7,1,3], %w: f32[1]) -> (%y) { %s: f32[2,7,5,3] = Add(%a, %b) %t: f32[2,7,5,3] = "
      "Sigmoid(%s) %m: f32[2,7,5,3] = Mul(%t, %s) %y: f32[2,7,5,3] = Sub(%w, %m) }");
  expect_right(
      "graph(%a: f32[4,100]) -> (%y) { constant %l = f32[]{-0.25} constant %h = f32[]{0.5} %s: f32[4,100] = Clip(%a, "
      "%l, %h) %y: f32[4,100] = Tanh(%s) }");
}

TEST(MnnRefusals, SayWhy) {
  EXPECT_EQ(refusal_of("graph(%a: f64[2,3]) -> (%y) { %y: f64[2,3] = Relu(%a) }"), "type: f64[2,3]");
  EXPECT_EQ(refusal_of("graph(%a: f32[N,3]) -> (%y) { %y: f32[N,3] = Relu(%a) }"), "shape: no static shape: f32[N,3]");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,3]) -> (%y) { %y: f32[2,3] = Softplus(%a) }"), "operator: Softplus");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,3]) -> (%y) { %y: f32[3,2] = Transpose(%a) {perm=[1,0]} }"),
            "operator: nothing to compute");
  EXPECT_EQ(refusal_of("graph(%x: f32[1,4,6,6], %v: f32[8,4,1,1]) -> (%y) { %y: f32[1,8,6,6] = Conv(%x, %v) }"),
            "structure: computed weights");
  EXPECT_EQ(refusal_of("graph(%x: f32[1,4,6], %w: f32[8,4,1]) -> (%y) { %y: f32[1,8,6] = Conv(%x, %w) }"),
            "shape: Conv of other than two spatial axes");
}

}  // namespace
}  // namespace collage::test
