// What regions of bytes become: one node of the library for an operator with its quantisers, in signed bytes and in
// unsigned ones. Their numbers are judged by tests/conformance/cases/quantised.txt.
#include "xnnpack_fixture.h"

namespace collage::test {
namespace {

using testing::ElementsAre;

constexpr const char* kNumbers =
    "constant %s = f32[]{0.02} constant %z = u8[]{100} constant %ws = f32[]{0.01} constant %wz = i8[]{0} constant %t = "
    "f32[]{0.1} constant %u = u8[]{7} ";

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(graph_of(text))) names.push_back(variant.name);
  return names;
}

std::string wrapped_conv(const std::string& more = "") {
  return "graph(%x: u8[1,16,9,9], %w: i8[24,16,3,3], %wb: f32[24]) -> (%y) { " + std::string(kNumbers) + more +
         "%a: f32[1,16,9,9] = DequantizeLinear(%x, %s, %z) %b: f32[24,16,3,3] = DequantizeLinear(%w, %ws, %wz) "
         "%c: f32[1,24,9,9] = Conv(%a, %b, %wb) {pads=[1,1,1,1]} %d: f32[1,24,9,9] = Relu(%c) "
         "%y: u8[1,24,9,9] = QuantizeLinear(%d, %t, %u) }";
}

TEST(XnnpackBytes, AreOneNodeFromDequantisersToTheQuantiser) {
  EXPECT_THAT(names_of(wrapped_conv()), ElementsAre("channels_last", "channels_last_u8"));
  const Graph graph = graph_of(wrapped_conv());
  for (const char* variant : {"channels_last", "channels_last_u8"}) {
    const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant);
    EXPECT_EQ(count_of(artifact, "\"kind\""), 1U) << artifact.bytes;
    EXPECT_EQ(count_of(artifact, "\"least\":0.0"), 1U);
    // The bias is steps of the sums.
    EXPECT_EQ(count_of(artifact, "\"numbers\""), 1U);
    EXPECT_EQ(artifact.constants.size(), 1U);
  }
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph, "channels_last"), "\"zero\":-28"), 1U);
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph, "channels_last_u8"), "\"zero\":128"), 1U);
}

TEST(XnnpackBytes, AreSignedWhereScalesAreOfChannels) {
  EXPECT_THAT(
      names_of("graph(%x: u8[1,16,9,9], %w: i8[4,16,1,1]) -> (%y) { constant %wl = f32[4]{0.01,0.02,0.03,0.04} " +
               std::string(kNumbers) + "%y: u8[1,4,9,9] = QLinearConv(%x, %s, %z, %w, %wl, %wz, %t, %u) }"),
      ElementsAre("channels_last"));
}

TEST(XnnpackBytes, AreUnsignedWhereWeightsHaveAZeroPoint) {
  EXPECT_THAT(names_of("graph(%x: u8[7,16], %w: u8[16,5]) -> (%y) { " + std::string(kNumbers) +
                       "%y: u8[7,5] = QLinearMatMul(%x, %s, %z, %w, %ws, %u, %t, %u) }"),
              ElementsAre("plain_u8"));
}

TEST(XnnpackBytes, StandForRealNumbersWhereNothingQuantises) {
  EXPECT_EQ(refusal_of("graph(%x: u8[1,16,9,9], %w: i8[24,16,3,3]) -> (%y) { " + std::string(kNumbers) +
                       "%a: f32[1,16,9,9] = DequantizeLinear(%x, %s, %z) %b: f32[24,16,3,3] = DequantizeLinear(%w, "
                       "%ws, %wz) %y: f32[1,24,9,9] = Conv(%a, %b) {pads=[1,1,1,1]} }"),
            "structure: computed weights");
  const std::string scaled =
      "graph(%x: f32[7,16], %w: i8[16,5]) -> (%y) { constant %wl = f32[5]{0.01,0.02,0.03,0.04,0.05} %b: f32[16,5] = "
      "DequantizeLinear(%w, %wl) {axis=1} %y: f32[7,5] = MatMul(%x, %b) }";
  EXPECT_THAT(names_of(scaled), ElementsAre("plain"));
  EXPECT_EQ(count_of(artifact_of(compiling("xnnpack"), graph_of(scaled), "plain"), "fully_connected"), 1U);
}

TEST(XnnpackBytes, AreRefusedWithAReason) {
  EXPECT_EQ(refusal_of("graph(%x: i32[7,16]) -> (%y) { constant %s = f32[]{0.5} %y: f32[7,16] = DequantizeLinear(%x, "
                       "%s) }"),
            "type: i32[7,16]");
  EXPECT_EQ(refusal_of("graph(%x: u8[7,16], %s: f32[]) -> (%y) { %y: f32[7,16] = DequantizeLinear(%x, %s) }"),
            "structure: scales that are no constants of f32");
  EXPECT_EQ(refusal_of("graph(%x: i8[7,4]) -> (%y) { constant %s = f32[4]{0.1,0.2,0.3,0.4} %y: f32[7,4] = "
                       "DequantizeLinear(%x, %s) }"),
            "structure: scales of channels of an activation");
  EXPECT_EQ(refusal_of("graph(%x: i8[7,4], %z: i8[7,4]) -> (%y) { %y: i8[7,4] = Add(%x, %z) }"), "type: i8[7,4]");
}

TEST(XnnpackBytes, ThatAreDamagedAreRefused) {
  const Graph graph = graph_of(wrapped_conv());
  const Variant variant = variants_of(graph).at(0);
  const Artifact whole = artifact_of(compiling("xnnpack"), graph, variant.name);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"numbers\":[", "\"numbers\":[1,"},         {"\"scales\":[", "\"scales\":[0.5,"},
      {"\"channel_axis\":0", "\"channel_axis\":7"}, {"\"type\":\"i8\"", "\"type\":\"f64\""},
      {"\"type\":\"i8\"", "\"type\":\"i32\""},      {"\"zero\":-28", "\"zero\":-999"}};
  for (const auto& [from, to] : changes) {
    Artifact artifact = whole;
    const std::size_t at = artifact.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << artifact.bytes;
    artifact.bytes.replace(at, from.size(), to);
    EXPECT_FALSE(loading("xnnpack").load(request_of(graph, variant, artifact))) << to;
  }
}

}  // namespace
}  // namespace collage::test
