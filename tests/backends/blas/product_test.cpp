// Numbers of products against plain loops: on both libraries, in every variant, on one thread and on two.
#include "blas_fixture.h"

namespace collage::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(BlasMatMul, TakesMatricesAndVectors) {
  EXPECT_THAT(expect_right("graph(%a: f32[7,24], %w: f32[24,17]) -> (%y) { %y: f32[7,17] = MatMul(%a, %w) }"),
              ElementsAre("gemm.plain"));
  for (const char* text : {
           "graph(%a: f32[1,64], %w: f32[64,33]) -> (%y) { %y: f32[1,33] = MatMul(%a, %w) }",
           "graph(%a: f32[9,24], %w: f32[24,1]) -> (%y) { %y: f32[9,1] = MatMul(%a, %w) }",
           "graph(%a: f32[16], %b: f32[16,5]) -> (%y) { %y: f32[5] = MatMul(%a, %b) }",
           "graph(%a: f32[5,16], %b: f32[16]) -> (%y) { %y: f32[5] = MatMul(%a, %b) }",
           "graph(%a: f32[16], %b: f32[16]) -> (%y) { %y: f32[] = MatMul(%a, %b) }",
           "graph(%a: f32[16], %b: f32[3,16,5]) -> (%y) { %y: f32[3,5] = MatMul(%a, %b) }",
           "graph(%a: f32[2,3,5,16], %b: f32[16]) -> (%y) { %y: f32[2,3,5] = MatMul(%a, %b) }",
           "graph(%a: f32[1,1], %b: f32[1,1]) -> (%y) { %y: f32[1,1] = MatMul(%a, %b) }",
       })
    EXPECT_FALSE(expect_right(text).empty());
  EXPECT_THAT(expect_right("graph(%a: f32[1,64], %w: f32[64,33]) -> (%y) { %y: f32[1,33] = MatMul(%a, %w) }"),
              ElementsAre("gemm.plain", "gemv.plain"));
}

TEST(BlasMatMul, BroadcastsBatches) {
  for (const char* text : {
           "graph(%a: f32[3,7,16], %b: f32[3,16,5]) -> (%y) { %y: f32[3,7,5] = MatMul(%a, %b) }",
           "graph(%a: f32[2,7,16], %w: f32[16,24]) -> (%y) { %y: f32[2,7,24] = MatMul(%a, %w) }",
           "graph(%a: f32[7,16], %b: f32[3,16,5]) -> (%y) { %y: f32[3,7,5] = MatMul(%a, %b) }",
           "graph(%a: f32[2,3,7,16], %b: f32[1,3,16,7]) -> (%y) { %y: f32[2,3,7,7] = MatMul(%a, %b) }",
           "graph(%a: f32[2,1,7,16], %b: f32[3,16,7]) -> (%y) { %y: f32[2,3,7,7] = MatMul(%a, %b) }",
           "graph(%a: f32[2,1,1,16], %b: f32[3,16,1]) -> (%y) { %y: f32[2,3,1,1] = MatMul(%a, %b) }",
           "graph(%a: f32[2,1,3,1,4,6], %b: f32[1,2,1,2,6,5]) -> (%y) { %y: f32[2,2,3,2,4,5] = MatMul(%a, %b) }",
           "graph(%a: f32[40,9,64], %b: f32[40,64,65]) -> (%y) { %y: f32[40,9,65] = MatMul(%a, %b) }",
       })
    EXPECT_FALSE(expect_right(text).empty());
}

TEST(BlasMatMul, TakesNothing) {
  for (const char* text : {
           "graph(%a: f32[0,16], %b: f32[16,5]) -> (%y) { %y: f32[0,5] = MatMul(%a, %b) }",
           "graph(%a: f32[4,16], %b: f32[16,0]) -> (%y) { %y: f32[4,0] = MatMul(%a, %b) }",
           "graph(%a: f32[0,4,16], %b: f32[1,16,5]) -> (%y) { %y: f32[0,4,5] = MatMul(%a, %b) }",
           "graph(%a: f32[4,0], %b: f32[0,5]) -> (%y) { %y: f32[4,5] = MatMul(%a, %b) }",
           "graph(%a: f32[0,4], %b: f32[4,0]) -> (%y) { %m: f32[0,0] = MatMul(%a, %b) %y: f32[0,0] = Relu(%m) }",
           "graph(%a: f32[0], %b: f32[0]) -> (%y) { %y: f32[] = MatMul(%a, %b) }",
       })
    EXPECT_FALSE(expect_right(text).empty());
  expect_right(
      "graph(%a: f32[2,1,0], %b: f32[0,5], %w: f32[5]) -> (%y) { %m: f32[2,1,5] = MatMul(%a, %b) %y: f32[2,1,5] = "
      "Add(%m, %w) }");
}

TEST(BlasMatMul, FoldsTransposes) {
  for (const char* text : {
           "graph(%a: f32[2,7,16], %b: f32[2,5,16]) -> (%y) { %t: f32[2,16,5] = Transpose(%b) {perm=[0,2,1]} %y: "
           "f32[2,7,5] = MatMul(%a, %t) }",
           "graph(%a: f32[16,7], %b: f32[5,16]) -> (%y) { %s: f32[7,16] = Transpose(%a) {perm=[1,0]} %t: f32[16,5] = "
           "Transpose(%b) {perm=[1,0]} "
           "%y: f32[7,5] = MatMul(%s, %t) }",
           // Heads of attention: rows lie apart, batches between them.
           "graph(%q: f32[2,9,3,8], %k: f32[2,9,3,8]) -> (%y) { %s: f32[2,3,9,8] = Transpose(%q) {perm=[0,2,1,3]} %t: "
           "f32[2,3,8,9] = Transpose(%k) {perm=[0,2,3,1]} %y: f32[2,3,9,9] = MatMul(%s, %t) }",
           "graph(%a: f32[2,3,9,8], %b: f32[2,3,8,4]) -> (%y) { %m: f32[2,3,9,4] = MatMul(%a, %b) %y: f32[2,9,3,4] = "
           "Transpose(%m) {perm=[0,2,1,3]} }",
           // The same for one batch: matrices between one another's rows.
           "graph(%q: f32[1,9,3,8], %k: f32[1,9,3,8]) -> (%y) { %s: f32[1,3,9,8] = Transpose(%q) {perm=[0,2,1,3]} %t: "
           "f32[1,3,8,9] = Transpose(%k) {perm=[0,2,3,1]} %y: f32[1,3,9,9] = MatMul(%s, %t) }",
           "graph(%a: f32[1,3,9,8], %b: f32[1,3,8,4]) -> (%y) { %m: f32[1,3,9,4] = MatMul(%a, %b) %y: f32[1,9,3,4] = "
           "Transpose(%m) {perm=[0,2,1,3]} }",
           "graph(%a: f32[2,9,8], %b: f32[8,4], %w: f32[4]) -> (%y) { %m: f32[2,9,4] = MatMul(%a, %b) %s: f32[2,9,4] = "
           "Add(%m, %w) %r: f32[2,9,4] = Relu(%s) %y: f32[2,4,9] = Transpose(%r) {perm=[0,2,1]} }",
           "graph(%a: f32[16,7]) -> (%y) { %t: f32[7,16] = Transpose(%a) {perm=[1,0]} %y: f32[16,16] = MatMul(%a, %t) "
           "}",
       })
    EXPECT_FALSE(expect_right(text).empty());
  const std::string begin = "graph(%a: f32[16,7], %b: f32[16,5]) -> (%y) { %t: f32[7,16] = Transpose(%a) ";
  const std::string end = "%y: f32[7,5] = MatMul(%t, %b) }";
  expect_right(begin + end, begin + "{perm=[1,0]} " + end);
}

TEST(BlasMatMul, TakesTheFusedOne) {
  expect_right(
      "graph(%a: f32[3,16,7], %b: f32[3,5,16]) -> (%y) { %y: f32[3,7,5] = com.microsoft::FusedMatMul(%a, %b) "
      "{alpha=0.5, transA=1, transB=1} }",
      "graph(%a: f32[3,16,7], %b: f32[3,5,16]) -> (%y) { constant %h = f32[]{0.5} %s: f32[3,7,16] = Transpose(%a) "
      "{perm=[0,2,1]} %t: f32[3,16,5] = Transpose(%b) {perm=[0,2,1]} %m: f32[3,7,5] = MatMul(%s, %t) %y: f32[3,7,5] = "
      "Mul(%m, %h) }");
  EXPECT_EQ(refusal_of("graph(%a: f32[3,16,7], %b: f32[3,7,16]) -> (%y) { %y: f32[3,7,5] = "
                       "com.microsoft::FusedMatMul(%a, %b) {transBatchA=1} }"),
            "attribute: transposed batches");
}

TEST(BlasMatMul, AddsAndRectifies) {
  for (
      const char* text : {
          "graph(%a: f32[2,7,16], %w: f32[16,24], %wb: f32[24]) -> (%y) { %m: f32[2,7,24] = MatMul(%a, %w) %y: "
          "f32[2,7,24] = Add(%m, %wb) }",
          "graph(%a: f32[7,16], %w: f32[16,24], %wb: f32[24]) -> (%y) { %m: f32[7,24] = MatMul(%a, %w) %s: f32[7,24] = "
          "Add(%wb, %m) %y: f32[7,24] = Relu(%s) }",
          "graph(%a: f32[2,7,16], %w: f32[16,16], %wb: f32[16]) -> (%y) { %m: f32[2,7,16] = MatMul(%a, %w) %s: "
          "f32[2,7,16] = Add(%m, %wb) %y: f32[2,7,16] = Add(%s, %a) }",
          "graph(%a: f32[2,7,16], %b: f32[16,16], %c: f32[2,7,16]) -> (%y) { %m: f32[2,7,16] = MatMul(%a, %b) %y: "
          "f32[2,7,16] = Add(%m, %c) }",
          "graph(%a: f32[2,3,7,16], %b: f32[2,3,16,7], %c: f32[2,1,7,1]) -> (%y) { constant %k = f32[]{0.25} %m: "
          "f32[2,3,7,7] = MatMul(%a, %b) %d: f32[2,3,7,7] = Mul(%k, %m) %y: f32[2,3,7,7] = Add(%d, %c) }",
          "graph(%a: f32[9,16], %b: f32[16], %c: f32[9]) -> (%y) { constant %k = f32[1]{4} %m: f32[9] = MatMul(%a, %b) "
          "%d: f32[9] = Div(%m, %k) %s: f32[9] = Add(%d, %c) %y: f32[9] = Relu(%s) }",
          "graph(%a: f32[7,16], %b: f32[16,5]) -> (%y) { constant %k = f32[]{0.5} %m: f32[7,5] = MatMul(%a, %b) %s: "
          "f32[7,5] = Add(%m, %k) %y: f32[7,5] = Relu(%s) }",
      })
    EXPECT_FALSE(expect_right(text).empty());
}

/// Outputs that do not fit into the cache are cut along their longer axis.
TEST(BlasMatMul, CutsLargeOutputsForTheEpilogue) {
  for (const char* text : {
           "graph(%a: f32[5003,9], %w: f32[9,131], %wb: f32[131]) -> (%y) { %m: f32[5003,131] = MatMul(%a, %w) %s: "
           "f32[5003,131] = Add(%m, %wb) %y: f32[5003,131] = Relu(%s) }",
           "graph(%a: f32[131,9], %w: f32[9,5003], %c: f32[131,1], %d: f32[131,5003]) -> (%y) { %m: f32[131,5003] = "
           "MatMul(%a, %w) %s: f32[131,5003] = Add(%m, %c) %y: f32[131,5003] = Add(%s, %d) }",
       })
    EXPECT_FALSE(expect_right(text).empty());
}

TEST(BlasMatMul, GivesInPlaceWhatIsAddedAsItIs) {
  const Graph residual = graph_of(
      "graph(%a: f32[7,16], %b: f32[16,16], %c: f32[7,16]) -> (%y) { %m: f32[7,16] = MatMul(%a, %b) %y: f32[7,16] = "
      "Add(%m, %c) }");
  EXPECT_THAT(artifact_of(compiling("blas"), residual, "gemm.plain").in_place, ElementsAre(testing::Pair(0U, 2U)));
  // The factor is read while the output is written.
  const Graph square = graph_of(
      "graph(%a: f32[16,16], %b: f32[16,16]) -> (%y) { %m: f32[16,16] = MatMul(%a, %b) %y: f32[16,16] = Add(%m, %a) }");
  EXPECT_TRUE(artifact_of(compiling("blas"), square, "gemm.plain").in_place.empty());
}

TEST(BlasGemm, TakesEveryAttributeAndShapeOfC) {
  for (const char* a : {"f32[7,24]", "f32[24,7]"})
    for (const char* b : {"f32[24,17]", "f32[17,24]"})
      for (const char* c : {"f32[17]", "f32[7,1]", "f32[7,17]", "f32[1,17]", "f32[]", "f32[1]"}) {
        const std::string turns =
            std::string("transA=") + (a[4] == '2' ? "1" : "0") + ", transB=" + (b[4] == '1' ? "1" : "0");
        expect_right(std::string("graph(%a: ") + a + ", %b: " + b + ", %c: " + c +
                     ") -> (%y) { %y: f32[7,17] = Gemm(%a, %b, %c) {alpha=0.5, beta=-2.0, " + turns + "} }");
      }
  expect_right("graph(%a: f32[7,24], %w: f32[24,17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %w) }");
  expect_right("graph(%a: f32[7,0], %b: f32[0,17], %c: f32[17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %b, %c) }");
  expect_right(
      "graph(%a: f32[1,24], %w: f32[17,24], %wc: f32[17]) -> (%y) { %g: f32[1,17] = Gemm(%a, %w, %wc) "
      "{transB=1} %y: f32[1,17] = Relu(%g) }");
  expect_right(
      "graph(%a: f32[7,24], %w: f32[17,24]) -> (%y) { %t: f32[24,7] = Transpose(%a) {perm=[1,0]} %y: f32[7,17] = "
      "Gemm(%t, %w) "
      "{transA=1, transB=1} }");
}

TEST(BlasConvolution, IsAProductInBothFormats) {
  EXPECT_THAT(expect_right("graph(%x: f32[2,16,5,6], %w: f32[24,16,1,1], %wb: f32[24]) -> (%y) { %y: f32[2,24,5,6] = "
                           "Conv(%x, %w, %wb) }"),
              UnorderedElementsAre("gemm.plain", "gemm.channels_last"));
  for (
      const char* text : {
          "graph(%x: f32[1,16,9], %w: f32[8,16,1]) -> (%y) { %y: f32[1,8,9] = Conv(%x, %w) }",
          "graph(%x: f32[3,5,2,3,4], %w: f32[7,5,1,1,1]) -> (%y) { %y: f32[3,7,2,3,4] = Conv(%x, %w) }",
          "graph(%x: f32[1,16,5,6], %v: f32[24,16,1,1], %b: f32[24]) -> (%y) { %y: f32[1,24,5,6] = Conv(%x, %v, %b) }",
          "graph(%x: f32[1,16,1,1], %w: f32[24,16,1,1], %wb: f32[24]) -> (%y) { %y: f32[1,24,1,1] = Conv(%x, %w, %wb) "
          "{auto_pad=\"SAME_UPPER\"} }",
          "graph(%x: f32[2,16,5,6], %w: f32[24,16,1,1], %wb: f32[24], %r: f32[2,24,5,6]) -> (%y) { %c: f32[2,24,5,6] = "
          "Conv(%x, %w, %wb) %s: f32[2,24,5,6] = Add(%c, %r) %y: f32[2,24,5,6] = Relu(%s) }",
          "graph(%x: f32[2,16,5,6], %w: f32[24,16,1,1], %s: f32[24,1,1], %r: f32[2,1,5,1]) -> (%y) { %c: f32[2,24,5,6] "
          "= Conv(%x, %w) %d: f32[2,24,5,6] = Add(%c, %s) %y: f32[2,24,5,6] = Add(%d, %r) }",
          "graph(%x: f32[1,24,70,80], %w: f32[96,24,1,1], %wb: f32[96]) -> (%y) { %c: f32[1,96,70,80] = Conv(%x, %w, "
          "%wb) %y: f32[1,96,70,80] = Relu(%c) }",
      })
    EXPECT_GE(expect_right(text).size(), 2U);
}

TEST(BlasRefusals, SayWhy) {
  const auto conv = [](const std::string& weights, const std::string& out, const std::string& attributes) {
    return refusal_of("graph(%x: f32[1,4,6,6], %w: " + weights + ") -> (%y) { %y: " + out + " = Conv(%x, %w) {" +
                      attributes + "} }");
  };
  EXPECT_EQ(conv("f32[8,4,3,3]", "f32[1,8,4,4]", "group=1"), "shape: a window of several pixels");
  EXPECT_EQ(conv("f32[8,2,1,1]", "f32[1,8,6,6]", "group=2"), "attribute: groups");
  EXPECT_EQ(conv("f32[8,4,1,1]", "f32[1,8,3,3]", "strides=[2,2]"), "attribute: strides");
  EXPECT_EQ(conv("f32[8,4,1,1]", "f32[1,8,8,8]", "pads=[1,1,1,1]"), "attribute: padding");
  EXPECT_EQ(refusal_of("graph(%a: f64[2,3], %b: f64[3,4]) -> (%y) { %y: f64[2,4] = MatMul(%a, %b) }"),
            "type: f64[2,3]");
  EXPECT_EQ(refusal_of("graph(%a: f32[N,3], %b: f32[3,4]) -> (%y) { %y: f32[N,4] = MatMul(%a, %b) }"),
            "shape: no static shape: f32[N,3]");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,3]) -> (%y) { %y: f32[2,3] = Relu(%a) }"), "operator: Relu");
  EXPECT_EQ(
      refusal_of("graph(%a: f32[3,2,4], %b: f32[2,3]) -> (%y) { %t: f32[4,3,2] = Transpose(%a) {perm=[2,0,1]} %y: "
                 "f32[4,3,3] = MatMul(%t, %b) }"),
      "structure: a factor with neither rows nor columns dense, or longer than 32 bits count");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,3], %b: f32[3,4]) -> (%y, %m) { %m: f32[2,4] = MatMul(%a, %b) %y: f32[2,4] = "
                       "Relu(%m) }"),
            "structure: an inner value that is read outside");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,3], %b: f32[3,4]) -> (%y) { %m: f32[2,4] = MatMul(%a, %b) %y: f32[2,4] = "
                       "Tanh(%m) }"),
            "operator: Tanh");
  EXPECT_EQ(refusal_of("graph(%a: f32[1,3], %b: f32[3,4], %c: f32[2,4]) -> (%y) { %m: f32[1,4] = MatMul(%a, %b) %y: "
                       "f32[2,4] = Add(%m, %c) }"),
            "shape: Add to a larger shape");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,3], %b: f32[3,4]) -> (%y) { constant %z = f32[]{0} %m: f32[2,4] = MatMul(%a, "
                       "%b) %y: f32[2,4] = Div(%m, %z) }"),
            "attribute: a factor that is not finite");
}

}  // namespace
}  // namespace collage::test
