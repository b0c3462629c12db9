// Each rule that comes before the version converter: what it writes and when it stays away. That the numbers stay the
// same was checked against ONNX Runtime; here the structure is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::int64_t axis_of(const Graph& graph, const std::string& op) {
  return attribute_or<std::int64_t>(node_of(graph, op), "axis", -99);
}

std::string text_attribute(const Node& node, const char* name) {
  return attribute_or<std::string>(node, name, "(none)");
}

Graph softmax_graph(const std::string& op, const std::string& shape, const std::string& attributes, int opset = 9) {
  return imported_graph(opset_model(
      opset, "g (float[" + shape + "] x) => (float[" + shape + "] y) { [n] y = " + op + attributes + "(x) }"));
}

TEST(LegacySoftmax, AlongTheLastAxisIsThePlainOperator) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    const Graph graph = softmax_graph(op, "2, 5", "");
    EXPECT_THAT(operators_of(graph), ElementsAre(op));
    EXPECT_EQ(axis_of(graph, op), 1);
    EXPECT_EQ(graph.nodes[0].name, "n");
  }
}

TEST(LegacySoftmax, BeforeDimensionsOfOneIsThePlainOperator) {
  const Graph graph = softmax_graph("Softmax", "2, 1000, 1, 1", "");
  EXPECT_THAT(operators_of(graph), ElementsAre("Softmax"));
  EXPECT_EQ(axis_of(graph, "Softmax"), 1);
  EXPECT_EQ(axis_of(softmax_graph("Softmax", "1, 1, 7, 1", "<axis = 1>"), "Softmax"), 2);
  EXPECT_EQ(axis_of(softmax_graph("Softmax", "2, 1, 1", "<axis = 1>"), "Softmax"), 2);
}

TEST(LegacySoftmax, OverSeveralDimensionsIsFlattened) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    const Graph graph = softmax_graph(op, "2, 3, 4", "<axis = 1>");
    EXPECT_THAT(operators_of(graph), ElementsAre("Flatten", op, "Reshape"));
    EXPECT_EQ(axis_of(graph, "Flatten"), 1);
    EXPECT_EQ(type_of(graph, "y"), "f32[2,3,4]");
  }
}

TEST(LegacySoftmax, OfUnknownExtentsIsFlattenedThroughTheRuntimeShape) {
  const auto imported = import_model(opset_model(9, "g (float[N, c, h] x) => (float[N, c, h] y) { y = Softmax(x) }"),
                                     "", {.shapes = {}, .allow_unbound = true});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_THAT(operators_of(imported->graph), ElementsAre("Flatten", "Softmax", "Shape", "Reshape"));
}

TEST(LegacySoftmax, OfOpset13IsLeftAlone) {
  EXPECT_THAT(operators_of(softmax_graph("Softmax", "2, 3, 4", "<axis = 1>", 13)), ElementsAre("Softmax"));
}

TEST(LegacySoftmax, OutOfRangeAxisIsRefused) {
  const auto imported =
      import_with(opset_model(9, "g (float[2, 3] x) => (float[2, 3] y) { y = Softmax<axis = 5>(x) }"));
  EXPECT_FALSE(imported);
  EXPECT_EQ(imported.error().exit, ExitCode::kBadInput);
}

TEST(LegacyResize, UpsampleKeepsAsymmetricCoordinates) {
  for (const char* mode : {"nearest", "linear"}) {
    const std::string with = std::string("<mode = \"") + mode + "\"";
    const Graph seven =
        imported_graph(opset_model(7, "g (float[1, 1, 2, 3] x) => (float[a, b, c, d] y) { y = Upsample" + with +
                                          ", scales = [1.0, 1.0, 2.0, 3.0]>(x) }"));
    const Graph nine = imported_graph(
        opset_model(9, "g (float[1, 1, 2, 3] x) => (float[a, b, c, d] y) <float[4] s = {1, 1, 2, 3}> { y = Upsample" +
                           with + ">(x, s) }"));
    for (const Graph& graph : {seven, nine}) {
      ASSERT_THAT(operators_of(graph), ElementsAre("Resize"));
      const Node& resize = graph.nodes[0];
      EXPECT_EQ(text_attribute(resize, "coordinate_transformation_mode"), "asymmetric");
      EXPECT_EQ(text_attribute(resize, "mode"), mode);
      EXPECT_EQ(text_attribute(resize, "nearest_mode"), std::string_view(mode) == "nearest" ? "floor" : "(none)");
      EXPECT_EQ(type_of(graph, "y"), "f32[1,1,4,9]");
      ASSERT_EQ(resize.inputs.size(), 3U);
      EXPECT_FALSE(resize.inputs[1].valid());
    }
  }
}

TEST(LegacyResize, ShrinkingWithOpset10TakesTheNeighbourAbove) {
  const Graph graph = imported_graph(opset_model(10, R"(g (float[1, 1, 4, 6] x) => (float[a, b, c, d] y)
      <float[4] s = {1, 1, 0.5, 0.5}> { y = Resize<mode = "nearest">(x, s) })"));
  EXPECT_EQ(text_attribute(node_of(graph, "Resize"), "nearest_mode"), "ceil");
}

TEST(LegacyResize, ThatGrowsAndShrinksAtOnceIsRefused) {
  const auto imported = import_with(opset_model(10, R"(g (float[1, 1, 4, 6] x) => (float[a, b, c, d] y)
      <float[4] s = {1, 1, 0.5, 2}> { y = Resize<mode = "nearest">(x, s) })"));
  EXPECT_EQ(code_of(imported), "import/unsupported-legacy");
}

TEST(LegacyResize, OfOpset11IsLeftAlone) {
  const Graph graph = imported_graph(opset_model(11, R"(g (float[1, 1, 4, 6] x, float[8] roi) => (float[a, b, c, d] y)
      <float[4] s = {1, 1, 2, 2}> { y = Resize<mode = "nearest">(x, roi, s) })"));
  EXPECT_EQ(text_attribute(node_of(graph, "Resize"), "coordinate_transformation_mode"), "(none)");
}

TEST(WindowsMl, AffineImageScalerAndCropBecomeStandardOperators) {
  const Graph graph = imported_graph(opset_model(7, R"(g (float[1, 3, 8, 9] x) => (float[1, 3, 5, 6] y) {
      a = Affine<alpha = 2.0, beta = -1.0>(x)
      b = ImageScaler<scale = 0.5, bias = [1.0, 2.0, 3.0]>(a)
      y = Crop<border = [1, 2, 2, 1]>(b) })"));
  EXPECT_THAT(operators_of(graph), ElementsAre("Mul", "Add", "Mul", "Add", "Slice"));
  EXPECT_EQ(type_of(graph, "y"), "f32[1,3,5,6]");
  const Tensor* bias = constant_of(graph, graph.nodes[3].inputs[1]);
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->extents, (Extents{3, 1, 1}));
}

TEST(WindowsMl, CropToASizeStartsAtItsBorder) {
  const Graph graph = imported_graph(opset_model(7, R"(g (float[1, 3, 8, 9] x) => (float[a, b, c, d] y)
      { y = Crop<border = [1, 2, 0, 0], scale = [4, 5]>(x) })"));
  EXPECT_EQ(type_of(graph, "y"), "f32[1,3,4,5]");
}

TEST(WindowsMl, CropWithoutBordersIsRefused) {
  EXPECT_EQ(code_of(import_with(opset_model(7, "g (float[1, 3, 8, 9] x) => (float[a, b, c, d] y) { y = Crop(x) }"))),
            "import/invalid-model");
}

TEST(EarlyOperators, LayerNormalizationBeforeItsOpsetHasItsLaterMeaning) {
  const Graph graph = imported_graph(
      opset_model(16, "g (float[2, 8] x, float[8] s) => (float[2, 8] y) { y = LayerNormalization(x, s) }"));
  EXPECT_THAT(operators_of(graph), ElementsAre("LayerNormalization"));
  EXPECT_TRUE(graph.nodes[0].domain.empty());
  EXPECT_EQ(type_of(graph, "y"), "f32[2,8]");
}

TEST(EarlyOperators, OthersAreRefused) {
  const auto imported = import_with(opset_model(16, "g (float[2, 8] x) => (float[2, 8] y) { y = Gelu(x) }"));
  EXPECT_EQ(code_of(imported), "import/newer-operator");
}

TEST(LegacyRules, NormalisingEachActivationByItselfIsRefused) {
  const auto imported =
      import_with(opset_model(7, R"(g (float[1, 3, 4] x, float[3] s, float[3] b, float[3] m, float[3] v)
      => (float[1, 3, 4] y) { y = BatchNormalization<spatial = 0>(x, s, b, m, v) })"));
  EXPECT_EQ(code_of(imported), "import/unsupported-legacy");
}

TEST(LegacyRules, ScanWithABatchIsRefused) {
  const auto imported =
      import_with(opset_model(8, R"(g (float[1, 2] i, float[1, 3, 2] x) => (float[1, 2] y, float[1, 3, 2] z) {
      y, z = Scan<num_scan_inputs = 1, body = b (float[2] si, float[2] xi) => (float[2] so, float[2] xo)
                  { so = Add(si, xi) xo = Identity(so) }>( , i, x) })"));
  EXPECT_EQ(code_of(imported), "import/unsupported-legacy");
}

TEST(LegacyRules, MatMulOfNarrowIntegersIsWidened) {
  const Graph graph =
      imported_graph(opset_model(11, "g (int8[2, 3] x, int8[3, 4] w) => (int8[2, 4] y) { y = MatMul(x, w) }"));
  EXPECT_THAT(operators_of(graph), ElementsAre("Cast", "Cast", "MatMul", "Cast"));
  EXPECT_EQ(type_of(graph, "y"), "i8[2,4]");
  const Graph plain =
      imported_graph(opset_model(11, "g (float[2, 3] x, float[3, 4] w) => (float[2, 4] y) { y = MatMul(x, w) }"));
  EXPECT_THAT(operators_of(plain), ElementsAre("MatMul"));
}

TEST(LegacyRules, SwishIsSpeltOut) {
  EXPECT_THAT(operators_of(imported_graph(opset_model(24, "g (float[2] x) => (float[2] y) { y = Swish(x) }"))),
              ElementsAre("Sigmoid", "Mul"));
  const Graph scaled =
      imported_graph(opset_model(24, "g (float16[2] x) => (float16[2] y) { y = Swish<alpha = 1.5>(x) }"));
  EXPECT_THAT(operators_of(scaled), ElementsAre("CastLike", "Mul", "Sigmoid", "Mul"));
  EXPECT_EQ(type_of(scaled, "y"), "f16[2]");
}

TEST(LegacyRules, ReachIntoBodies) {
  const Graph graph = imported_graph(opset_model(9, R"(g (bool c, float[2, 3, 4] x) => (float[2, 3, 4] y) {
      y = If(c) <then_branch = t () => (float[2, 3, 4] a) { a = Softmax(x) },
                 else_branch = e () => (float[2, 3, 4] b) { b = Neg(x) }> })"));
  const Body* body = find_attribute<Body>(node_of(graph, "If"), "then_branch");
  ASSERT_NE(body, nullptr);
  EXPECT_THAT(operators_of(*body->graph), ElementsAre("Flatten", "Softmax", "Reshape"));
}

}  // namespace
}  // namespace collage::testing
