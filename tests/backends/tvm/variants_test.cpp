// What regions become: right numbers in every layout that is offered, and one kernel where operators can share it.
#include "tvm_fixture.h"

namespace collage::test {
namespace {

using testing::ElementsAre;

std::string conv(const std::string& in, const std::string& weights, const std::string& out, const std::string& more) {
  return "graph(%x: f32[" + in + "], %w: f32[" + weights + "], %wb: f32[24]) -> (%y) { %y: f32[" + out +
         "] = Conv(%x, %w, %wb)" + (more.empty() ? more : " {" + more + "}") + " }";
}

std::string chain(const std::string& type, const std::string& operators) {
  return "graph(%x: f32" + type + ", %z: f32" + type + ") -> (%y) { " + operators + " }";
}

std::size_t kernels_in(const Artifact& artifact) {
  const std::size_t begin = artifact.bytes.find("\"calls\":");
  const std::size_t end = artifact.bytes.find("\"constants\":", begin);
  std::size_t count = 0;
  for (std::size_t at = begin; (at = artifact.bytes.find("\"kernel\"", at + 1)) < end;) ++count;
  return count;
}

using TvmConvolution = TvmTest;
using TvmProduct = TvmTest;
using TvmElements = TvmTest;
using TvmAxes = TvmTest;

TEST_F(TvmConvolution, MatchesPlainLoops) {
  for (const std::string& text : {conv("1,16,9,11", "24,16,3,3", "1,24,9,11", "pads=[1,1,1,1]"),
                                  conv("2,7,10,9", "24,7,3,3", "2,24,5,5", "pads=[1,1,1,1], strides=[2,2]"),
                                  conv("1,3,12,12", "24,3,4,4", "1,24,5,5", "strides=[2,2]"),
                                  conv("1,24,9,9", "24,1,3,3", "1,24,9,9", "group=24, pads=[1,1,1,1]"),
                                  conv("1,12,9,9", "24,1,3,3", "1,24,9,9", "group=12, pads=[1,1,1,1]"),
                                  conv("1,32,9,9", "24,8,3,3", "1,24,9,9", "group=4, pads=[1,1,1,1]"),
                                  conv("1,16,15,15", "24,16,3,3", "1,24,15,15", "dilations=[2,2], pads=[2,2,2,2]")})
    EXPECT_THAT(expect_right(kUntuned, text), ElementsAre("channels_last")) << text;
}

TEST_F(TvmConvolution, PacksItsWeightsWhenItIsTuned) {
  const std::string text =
      "graph(%x: f32[1,32,14,14], %r: f32[1,32,14,14], %w: f32[32,32,3,3], %wb: f32[32]) -> (%y) { %c: f32[1,32,14,14] "
      "= Conv(%x, %w, %wb) {pads=[1,1,1,1]} %s: f32[1,32,14,14] = Add(%c, %r) %y: f32[1,32,14,14] = Relu(%s) }";
  EXPECT_THAT(expect_right(kTuned, text), ElementsAre("channels_last"));
  const Artifact artifact = artifact_of(kTuned, graph_of(text));
  EXPECT_EQ(kernels_in(artifact), 1U);
  EXPECT_EQ(artifact.bytes.find("\"prepare\":[]"), std::string::npos);
}

TEST_F(TvmConvolution, IsOneKernelOrRefused) {
  const std::string two =
      "graph(%x: f32[1,8,9,9], %w: f32[24,8,1,1], %wd: f32[24,1,3,3]) -> (%y) { %c: f32[1,24,9,9] = Conv(%x, %w) %y: "
      "f32[1,24,9,9] = Conv(%c, %wd) {group=24, pads=[1,1,1,1]} }";
  EXPECT_EQ(refusal_of(two), "structure: Conv is another kernel");
  const std::string before =
      "graph(%x: f32[1,8,9,9], %w: f32[24,8,1,1]) -> (%y) { %a: f32[1,8,9,9] = Relu(%x) %y: f32[1,24,9,9] = Conv(%a, "
      "%w) }";
  EXPECT_EQ(refusal_of(before), "structure: what comes before Conv is another kernel");
}

TEST_F(TvmConvolution, NeedsConstantWeightsAndTwoAxes) {
  EXPECT_EQ(refusal_of("graph(%x: f32[1,8,9,9], %k: f32[24,8,3,3]) -> (%y) { %y: f32[1,24,7,7] = Conv(%x, %k) }"),
            "structure: computed weights");
  EXPECT_EQ(refusal_of("graph(%x: f32[1,8,9], %w: f32[24,8,3]) -> (%y) { %y: f32[1,24,7] = Conv(%x, %w) }"),
            "shape: only two spatial axes");
}

TEST_F(TvmProduct, MatchesPlainLoops) {
  EXPECT_THAT(expect_right(kTuned,
                           "graph(%a: f32[2,7,16], %w: f32[16,5], %wb: f32[5]) -> (%y) { %m: f32[2,7,5] = MatMul(%a, "
                           "%w) %s: f32[2,7,5] = Add(%wb, %m) %y: f32[2,7,5] = Relu(%s) }"),
              ElementsAre("plain"));
  EXPECT_THAT(
      expect_right(kUntuned, "graph(%a: f32[3,7,16], %b: f32[3,16,5]) -> (%y) { %y: f32[3,7,5] = MatMul(%a, %b) }"),
      ElementsAre("plain"));
  EXPECT_THAT(
      expect_right(kUntuned,
                   "graph(%a: f32[16,7], %w: f32[5,16], %wc: f32[5]) -> (%y) { %y: f32[7,5] = Gemm(%a, %w, %wc) "
                   "{transA=1, transB=1, alpha=0.5, beta=2.0} }"),
      ElementsAre("plain"));
}

TEST_F(TvmElements, MatchPlainLoops) {
  const std::string type = "[3,50]";
  for (const std::string op :
       {"Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Neg", "HardSwish", "HardSigmoid", "Gelu", "Elu", "LeakyRelu"})
    EXPECT_THAT(expect_right(kUntuned, chain(type, "%s: f32[3,50] = Add(%x, %z) %y: f32[3,50] = " + op + "(%s)")),
                ElementsAre("plain"))
        << op;
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
    EXPECT_THAT(expect_right(kUntuned, chain(type, "%y: f32[3,50] = " + op + "(%x, %z)")), ElementsAre("plain")) << op;
}

TEST_F(TvmElements, AreOneKernelInBothLayouts) {
  const std::string text =
      "graph(%x: f32[1,8,5,5], %w: f32[8,1,1], %s: f32[1,8,1,1]) -> (%y) { constant %h = f32[]{0.5} %a: f32[1,8,5,5] = "
      "Mul(%x, %w) %b: f32[1,8,5,5] = Add(%a, %h) %c: f32[1,8,5,5] = Sigmoid(%b) %d: f32[1,8,5,5] = Mul(%b, %c) %y: "
      "f32[1,8,5,5] = Mul(%d, %s) }";
  EXPECT_THAT(expect_right(kUntuned, text), ElementsAre("channels_last", "plain"));
  EXPECT_EQ(kernels_in(artifact_of(kUntuned, graph_of(text))), 1U);
}

TEST_F(TvmAxes, MatchPlainLoops) {
  EXPECT_THAT(expect_right(kTuned, "graph(%x: f32[6,40]) -> (%y) { %y: f32[6,40] = Softmax(%x) }"),
              ElementsAre("plain"));
  EXPECT_THAT(expect_right(kUntuned, "graph(%x: f32[2,5,4,3]) -> (%y) { %y: f32[2,5,4,3] = Softmax(%x) {axis=1} }"),
              ElementsAre("channels_last", "plain"));
  EXPECT_THAT(expect_right(kUntuned, "graph(%x: f32[2,5,4,3]) -> (%y) { %y: f32[2,5,1,1] = GlobalAveragePool(%x) }"),
              ElementsAre("channels_last", "plain"));
  EXPECT_THAT(expect_right(kUntuned,
                           "graph(%x: f32[1,5,9,9]) -> (%y) { %y: f32[1,5,5,5] = MaxPool(%x) {kernel_shape=[3,3], "
                           "strides=[2,2], pads=[1,1,1,1]} }"),
              ElementsAre("channels_last"));
  EXPECT_THAT(expect_right(kUntuned,
                           "graph(%x: f32[1,5,9,9]) -> (%y) { %y: f32[1,5,5,5] = AveragePool(%x) {kernel_shape=[3,3], "
                           "strides=[2,2], pads=[1,1,1,1]} }"),
              ElementsAre("channels_last"));
}

TEST_F(TvmAxes, AreSettingsOfTheSearchForSchedules) {
  const Graph graph = graph_of("graph(%x: f32[6,40]) -> (%y) { %y: f32[6,40] = Softmax(%x) }");
  const Variant variant = variants_of(kTuned, graph).at(0);
  const auto space = tuning_space(compiling(kTuned), graph, region_of(graph), variant, {});
  ASSERT_TRUE(space);
  EXPECT_EQ(name_of(*space, space->seeds.at(0)), variant.name);
  EXPECT_THAT(space->choices.at(0).values, ElementsAre(4, 16, 64));
}

}  // namespace
}  // namespace collage::test
