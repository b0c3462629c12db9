// Which ways to compute a convolution are offered in which accuracy class, and how far they err.
#include "mnn_fixture.h"

namespace collage::test {
namespace {

using testing::ElementsAre;

constexpr const char* kThree =
    "graph(%x: f32[1,32,48,48], %w: f32[16,32,3,3]) -> (%y) { %y: f32[1,16,48,48] = Conv(%x, %w) {pads=[1,1,1,1]} }";
constexpr const char* kFive =
    "graph(%x: f32[1,16,28,28], %w: f32[16,16,5,5]) -> (%y) { %y: f32[1,16,28,28] = Conv(%x, %w) {pads=[2,2,2,2]} }";

/// Those between plain ports.
std::vector<std::string> plain_variants_of(const std::string& text, Accuracy accuracy) {
  std::vector<std::string> names = variants_of(text, accuracy);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("plain"); });
  return names;
}

TEST(MnnVariants, OfferNothingButSumsOfProductsInClassStrict) {
  EXPECT_THAT(plain_variants_of(kThree, Accuracy::kStrict), ElementsAre("plain.direct"));
  EXPECT_THAT(
      variants_of("graph(%a: f32[7,17], %w: f32[17,33]) -> (%y) { %y: f32[7,33] = MatMul(%a, %w) }", Accuracy::kStrict),
      ElementsAre("plain.direct"));
}

TEST(MnnVariants, OfferTheLargeTransformsInClassFastAlone) {
  EXPECT_THAT(plain_variants_of(kThree, Accuracy::kStandard), ElementsAre("plain.direct", "plain.winograd=1"));
  EXPECT_THAT(plain_variants_of(kThree, Accuracy::kFast),
              ElementsAre("plain.direct", "plain.winograd=1", "plain.winograd=3"));
  EXPECT_THAT(plain_variants_of(kFive, Accuracy::kStandard), ElementsAre("plain.direct"));
  EXPECT_THAT(plain_variants_of(kFive, Accuracy::kFast), ElementsAre("plain.direct", "plain.winograd=3"));
}

TEST(MnnVariants, OfferImagesInChannelsLastByTheFastestMethod) {
  EXPECT_THAT(variants_of(kThree), ElementsAre("plain.direct", "plain.winograd=1", "channels_last.winograd=1",
                                               "channels_last_in.winograd=1", "channels_last_out.winograd=1"));
  EXPECT_THAT(variants_of("graph(%x: f32[1,17,9,8]) -> (%y) { %y: f32[1,17,1,1] = GlobalMaxPool(%x) }"),
              ElementsAre("plain", "channels_last"))
      << "one pixel lies alike in both";
}

TEST(MnnVariants, ErrAsTheirClassesAllow) {
  EXPECT_LT(error_of(kThree, "plain.direct", Accuracy::kStrict), 2e-6);
  EXPECT_LT(error_of(kThree, "plain.winograd=1", Accuracy::kStandard), 2e-6);
  const double error = error_of(kThree, "plain.winograd=3", Accuracy::kFast);
  EXPECT_LT(error, 5e-3);
  EXPECT_GT(error, 1e-5) << "near enough for class standard";
}

TEST(MnnVariants, ComputeFunctionsAsClassStrictAllows) {
  for (const char* node :
       {"Sigmoid(%a)", "Tanh(%a)", "Exp(%a)", "Gelu(%a)", "Gelu(%a) {approximate=\"tanh\"}", "Elu(%a)", "HardSwish(%a)",
        "HardSigmoid(%a)", "Swish(%a)", "Abs(%a)", "Neg(%a)", "LeakyRelu(%a)"})
    EXPECT_LT(error_of(std::string("graph(%a: f32[5,7,19]) -> (%y) { %y: f32[5,7,19] = ") + node + " }", "plain",
                       Accuracy::kStrict),
              1e-5)
        << node;
}

/// Its reciprocals have 12 bits.
TEST(MnnVariants, LeaveSoftmaxOutOfClassStrict) {
  for (const char* axis : {"-1", "0", "1"}) {
    const std::string text =
        std::string("graph(%a: f32[5,7,19]) -> (%y) { %y: f32[5,7,19] = Softmax(%a) {axis=") + axis + "} }";
    EXPECT_LT(error_of(text, "plain", Accuracy::kStandard), 5e-4);
    EXPECT_TRUE(variants_of(text, Accuracy::kStrict).empty());
  }
}

TEST(MnnVariants, ComputeSoftmaxOfAProduct) {
  for (const char* variant : {"plain.direct", "plain.winograd=0"}) {
    EXPECT_LT(error_of("graph(%a: f32[1,64], %w: f32[64,1000]) -> (%y) { %m: f32[1,1000] = MatMul(%a, %w) %y: "
                       "f32[1,1000] = Softmax(%m) }",
                       variant, Accuracy::kStandard),
              1e-3);
    EXPECT_LT(error_of("graph(%a: f32[1,64], %w: f32[1000,64], %wc: f32[1000]) -> (%y) { %m: f32[1,1000] = Gemm(%a, "
                       "%w, %wc) {transB=1} %y: f32[1,1000] = Softmax(%m) }",
                       variant, Accuracy::kStandard),
              1e-3);
  }
}

}  // namespace
}  // namespace collage::test
