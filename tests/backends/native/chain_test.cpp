// Regions with several anchors, and with moves before one: which are kernels, and which are refused with a reason.
#include "native_fixture.h"

namespace collage::test {
namespace {

std::string refusal_of(const std::string& text) {
  const Graph graph = graph_of(text);
  const auto variants = compiling("native").support(graph, region_of(graph), {});
  return variants ? "taken" : std::string(name_of(variants.error().reason));
}

const std::string kHead =
    "graph(%x: f32[1,16,9,9], %wa: f32[16,16,1,1], %wc: f32[16,1,3,3], %wd: f32[16,16,1,1]) -> (%y) {"
    " %a: f32[1,16,9,9] = Conv(%x, %wa) {kernel_shape=[1,1]} ";
const std::string kWindow = " = Conv(%a, %wc) {group=16, kernel_shape=[3,3], pads=[1,1,1,1]} ";

TEST(Chain, IsTakenAlsoWhereItGrowsFromTwoAnchors) {
  EXPECT_EQ(refusal_of(kHead + "%y: f32[1,16,9,9]" + kWindow + "}"), "taken");
  EXPECT_EQ(refusal_of(kHead + "%b: f32[1,16,9,9]" + kWindow + "%y: f32[1,16,9,9] = Conv(%b, %wd) }"), "taken");
}

TEST(Chain, IsRefusedWhenAMapBetweenIsReadTwice) {
  EXPECT_EQ(refusal_of(kHead + "%b: f32[1,16,9,9]" + kWindow + "%y: f32[1,16,9,9] = Add(%a, %b) }"), "structure");
}

TEST(Chain, IsRefusedWhenAnchorsStandBesideEachOther) {
  EXPECT_EQ(refusal_of(kHead + "%b: f32[1,16,9,9] = Conv(%x, %wc) {group=16, kernel_shape=[3,3], pads=[1,1,1,1]} "
                               "%y: f32[1,16,9,9] = Add(%a, %b) }"),
            "structure");
}

TEST(Chain, IsRefusedWithoutADepthwiseConvolution) {
  EXPECT_EQ(refusal_of(kHead + "%y: f32[1,16,9,9] = Conv(%a, %wd) {kernel_shape=[1,1]} }"), "structure");
}

TEST(Chain, IsRefusedWithOtherOperators) {
  EXPECT_EQ(refusal_of(kHead + "%y: f32[1,16,3,3] = MaxPool(%a) {kernel_shape=[3,3], strides=[3,3]} }"), "structure");
}

TEST(Staged, WorkIsRefusedWhenOthersReadIt) {
  EXPECT_EQ(refusal_of("graph(%x: f32[1,16,9,9], %wa: f32[16,16,1,1]) -> (%y) { %r: f32[1,16,9,9] = Relu(%x) "
                       "%a: f32[1,16,9,9] = Conv(%r, %wa) {kernel_shape=[1,1]} %y: f32[1,16,9,9] = Add(%a, %r) }"),
            "structure");
}

TEST(Staged, ViewsAreRefusedForTheyCostNothing) {
  EXPECT_EQ(refusal_of("graph(%x: f32[4,4,8], %w: f32[32,16]) -> (%y) { constant %shape = i64[2]{4,32} "
                       "%r: f32[4,32] = Reshape(%x, %shape) %y: f32[4,16] = MatMul(%r, %w) }"),
            "structure");
}

TEST(Staged, MovesAfterAnAnchorAreRefused) {
  EXPECT_EQ(refusal_of("graph(%x: f32[4,8], %w: f32[8,16]) -> (%y) { %m: f32[4,16] = MatMul(%x, %w) "
                       "%y: f32[16,4] = Transpose(%m) {perm=[1,0]} }"),
            "structure");
}

}  // namespace
}  // namespace collage::test
