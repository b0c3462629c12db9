// What regions become: right numbers in both layouts, and as few nodes of the library as can be.
#include "xnnpack_fixture.h"

namespace collage::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string conv(const std::string& in, const std::string& weights, const std::string& out, const std::string& more) {
  return "graph(%x: f32[" + in + "], %w: f32[" + weights + "], %wb: f32[24]) -> (%y) { %y: f32[" + out +
         "] = Conv(%x, %w, %wb)" + (more.empty() ? more : " {" + more + "}") + " }";
}

TEST(XnnpackConvolution, MatchesPlainLoops) {
  for (const std::string& text :
       {conv("1,16,9,11", "24,16,3,3", "1,24,9,11", "pads=[1,1,1,1]"),
        conv("2,7,10,9", "24,7,3,3", "2,24,5,5", "pads=[1,1,1,1], strides=[2,2]"),
        conv("1,3,12,12", "24,3,4,4", "1,24,5,5", "strides=[2,2]"), conv("1,48,6,7", "24,48,1,1", "1,24,6,7", ""),
        conv("1,24,9,9", "24,1,3,3", "1,24,9,9", "group=24, pads=[1,1,1,1]"),
        conv("1,12,9,9", "24,1,3,3", "1,24,9,9", "group=12, pads=[1,1,1,1]"),
        conv("1,32,9,9", "24,8,3,3", "1,24,9,9", "group=4, pads=[1,1,1,1]"),
        conv("1,16,15,15", "24,16,3,3", "1,24,15,15", "dilations=[2,2], pads=[2,2,2,2]"),
        conv("1,16,30", "24,16,3", "1,24,30", "pads=[1,1]"), conv("3,32,1,1", "24,32,1,1", "3,24,1,1", "")})
    EXPECT_THAT(expect_right(text), ElementsAre("channels_last")) << text;
}

/// Limits are given to the operation: as a node of their own, joined by the library, those that do not begin at 0
/// would change its padding.
TEST(XnnpackConvolution, TakesLimitsIntoTheOperation) {
  for (const std::string limits : {"Relu(%c)", "Clip(%c, %lo, %hi)"}) {
    const std::string text =
        "graph(%x: f32[1,8,9,9], %w: f32[24,8,3,3]) -> (%y) { constant %lo = f32[]{-0.25} constant %hi = f32[]{0.5} "
        "%c: f32[1,24,9,9] = Conv(%x, %w) {pads=[1,1,1,1]} %y: f32[1,24,9,9] = " +
        limits + " }";
    EXPECT_THAT(expect_right(text), ElementsAre("channels_last"));
    const Artifact artifact = artifact_of(compiling("xnnpack"), graph_of(text), "channels_last");
    EXPECT_EQ(count_of(artifact, "\"kind\""), 1U) << artifact.bytes;
  }
}

TEST(XnnpackConvolution, KeepsLimitsApartFromAValueThatIsReadTwice) {
  const std::string text =
      "graph(%x: f32[1,8,9,9], %w: f32[8,8,3,3]) -> (%y) { constant %lo = f32[]{-0.25} constant %hi = f32[]{0.5} %c: "
      "f32[1,8,9,9] = Conv(%x, %w) {pads=[1,1,1,1]} %k: f32[1,8,9,9] = Clip(%c, %lo, %hi) %y: f32[1,8,9,9] = Mul(%c, "
      "%k) }";
  EXPECT_THAT(expect_right(text), ElementsAre("channels_last"));
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph_of(text), "channels_last"), "clamp"), 1U);
}

TEST(XnnpackConvolution, TakesPaddingIntoTheOperation) {
  const std::string tail = "%w: f32[24,8,3,3]) -> (%y) { ";
  const std::string text = "graph(%x: f32[1,8,9,9], " + tail +
                           "constant %p = i64[8]{0, 0, 1, 0, 0, 0, 1, 2} %q: f32[1,8,11,11] = Pad(%x, %p) %y: "
                           "f32[1,24,9,9] = Conv(%q, %w) }";
  const std::string same = "graph(%x: f32[1,8,9,9], " + tail + "%y: f32[1,24,9,9] = Conv(%x, %w) {pads=[1,0,1,2]} }";
  EXPECT_THAT(expect_right(text, same), ElementsAre("channels_last"));
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph_of(text), "channels_last"), "\"kind\""), 1U);
}

TEST(XnnpackConvolution, SharesTheMemoryOfAResidual) {
  const std::string text =
      "graph(%x: f32[1,8,9,9], %r: f32[1,24,9,9], %w: f32[24,8,3,3]) -> (%y) { %c: f32[1,24,9,9] = Conv(%x, %w) "
      "{pads=[1,1,1,1]} %s: f32[1,24,9,9] = Add(%c, %r) %y: f32[1,24,9,9] = Relu(%s) }";
  EXPECT_THAT(expect_right(text), ElementsAre("channels_last"));
  const std::string sum = text.substr(0, text.find(" %y: ")) + " }";
  std::string to_sum = sum;
  to_sum.replace(to_sum.find("(%y)"), 4, "(%s)");
  EXPECT_THAT(expect_right(to_sum), ElementsAre("channels_last"));
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(artifact_of(compiling("xnnpack"), graph_of(to_sum), "channels_last").in_place, ElementsAre(Pair{0, 1}));
}

TEST(XnnpackProduct, MatchesPlainLoopsAndTakesTheBias) {
  const std::string text =
      "graph(%a: f32[2,7,16], %w: f32[16,5], %wb: f32[5]) -> (%y) { %m: f32[2,7,5] = MatMul(%a, %w) %s: f32[2,7,5] = "
      "Add(%wb, %m) %y: f32[2,7,5] = Relu(%s) }";
  EXPECT_THAT(expect_right(text), ElementsAre("plain"));
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph_of(text), "plain"), "\"kind\""), 1U);
}

TEST(XnnpackProduct, TakesFactorsThatAreComputed) {
  EXPECT_THAT(expect_right("graph(%a: f32[3,7,16], %b: f32[3,16,5]) -> (%y) { %y: f32[3,7,5] = MatMul(%a, %b) }"),
              ElementsAre("plain"));
  EXPECT_THAT(expect_right("graph(%a: f32[2,3,7,16], %b: f32[3,16,5]) -> (%y) { %y: f32[2,3,7,5] = MatMul(%a, %b) }"),
              ElementsAre("plain"));
  const std::string turned =
      "graph(%a: f32[3,7,16], %b: f32[3,5,16]) -> (%y) { %t: f32[3,16,5] = Transpose(%b) {perm=[0,2,1]} %y: "
      "f32[3,7,5] = MatMul(%a, %t) }";
  EXPECT_THAT(expect_right(turned), ElementsAre("plain"));
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph_of(turned), "plain"), "\"kind\""), 1U);
}

TEST(XnnpackProduct, ScalesTheConstantsOfGemm) {
  EXPECT_THAT(expect_right("graph(%a: f32[7,16], %w: f32[5,16], %wb: f32[5]) -> (%y) { %y: f32[7,5] = Gemm(%a, %w, "
                           "%wb) {alpha=0.5, beta=2.0, transB=1} }"),
              ElementsAre("plain"));
}

TEST(XnnpackElementwise, ComputesInBothLayouts) {
  const std::string text =
      "graph(%x: f32[1,6,5,4], %z: f32[1,6,5,4], %w: f32[6,1,1]) -> (%y) { %a: f32[1,6,5,4] = Add(%x, %w) %b: "
      "f32[1,6,5,4] = Sigmoid(%a) %y: f32[1,6,5,4] = Mul(%b, %z) }";
  EXPECT_THAT(expect_right(text), ElementsAre("channels_last", "plain"));
}

TEST(XnnpackElementwise, RefusesToBroadcastAlongOtherAxes) {
  // With its channels last, x has no axis where the model's last one is.
  const std::string text = "graph(%x: f32[1,6,5,4], %z: f32[4]) -> (%y) { %y: f32[1,6,5,4] = Add(%x, %z) }";
  EXPECT_THAT(expect_right(text), ElementsAre("plain"));
}

TEST(XnnpackElementwise, KnowsHardSwishByItsParts) {
  const std::string text =
      "graph(%x: f32[1,6,5,4]) -> (%y) { %g: f32[1,6,5,4] = HardSigmoid(%x) {alpha=0.16666667, beta=0.5} %y: "
      "f32[1,6,5,4] = Mul(%x, %g) }";
  EXPECT_THAT(expect_right(text), ElementsAre("channels_last", "plain"));
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph_of(text), "plain"), "hardswish"), 1U);
}

TEST(XnnpackBackend, SaysWhyItRefuses) {
  EXPECT_EQ(refusal_of("graph(%x: f32[1,6]) -> (%y) { %y: f32[1,6] = Erf(%x) }"), "operator: Erf");
  EXPECT_EQ(refusal_of("graph(%x: f16[1,6]) -> (%y) { %y: f16[1,6] = Relu(%x) }"), "type: f16[1,6]");
  EXPECT_EQ(refusal_of("graph(%x: f32[1,6]) -> (%y) { constant %lo = f32[]{1.0} constant %hi = f32[]{1.0} %y: "
                       "f32[1,6] = Clip(%x, %lo, %hi) }"),
            "attribute: Clip to one number or to none");
  EXPECT_EQ(refusal_of("graph(%x: f32[1,4,6,6], %w: f32[4,4,3,3]) -> (%y) { %c: f32[1,4,4,4] = Conv(%x, %w) %y: "
                       "f32[1,4,4,4] = Transpose(%c) {perm=[0,1,3,2]} }"),
            "format: Conv wants its channels last");
}

}  // namespace
}  // namespace collage::test
