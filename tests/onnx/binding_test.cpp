#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kTwoInputs = "g (float[N, 3, h] x, float[N] w) => (float[N, 3, h] y) { y = Relu(x) z = Relu(w) }";

Result<ShapeBindings> parse(const std::vector<std::string>& arguments) { return parse_shape_bindings(arguments); }

TEST(ShapeBindings, SplitsAtTheLastEqualsSign) {
  const auto bindings = parse({"scope=input=1x3", "N=8", "scalar="});
  ASSERT_TRUE(bindings);
  EXPECT_EQ(bindings->entries.at("scope=input"), "1x3");
  EXPECT_EQ(bindings->entries.at("N"), "8");
  EXPECT_EQ(bindings->entries.at("scalar"), "");
}

TEST(ShapeBindings, TakesZeroAndRefusesWhatIsNoExtent) {
  EXPECT_TRUE(parse({"x=0x3"}));
  for (const char* bad : {"x", "=1", "x=1x", "x=-1", "x=1x-3", "x=axb", "x=1 x3", "x=99999999999999999999"})
    EXPECT_EQ(code_of(parse({bad})), "shape/malformed") << bad;
}

TEST(ShapeBindings, KeepRangesWhichOneShapeHasNoUseFor) {
  const auto bindings = parse({"N=1..8"});
  ASSERT_TRUE(bindings);
  EXPECT_EQ(bindings->entries.at("N"), "1..8");
  const auto imported = import_with(opset_model(13, kTwoInputs), {"N=1..8", "h=2"});
  EXPECT_EQ(code_of(imported), "shape/range");
  EXPECT_EQ(imported.error().exit, ExitCode::kUsage);
}

TEST(ShapeBindings, RefusesTwoShapesForOneName) {
  EXPECT_EQ(code_of(parse({"x=1", "x=2"})), "shape/twice");
  EXPECT_EQ(code_of(parse({"x=1", "x=1"})), "ok");
}

TEST(Import, RefusesUnboundDimensionsNamingInputAndSymbols) {
  const auto imported = import_with(opset_model(13, kTwoInputs));
  ASSERT_EQ(code_of(imported), "import/unbound-dimension");
  EXPECT_EQ(imported.error().exit, ExitCode::kBadInput);
  EXPECT_THAT(imported.error().where, HasSubstr("x[N,3,h]"));
  EXPECT_THAT(imported.error().where, HasSubstr("w[N]"));
}

TEST(Import, KeepsUnboundDimensionsSymbolicWhenAllowed) {
  const auto imported = import_model(opset_model(13, kTwoInputs), "", {.shapes = {}, .allow_unbound = true});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(type_of(imported->graph, "y"), "f32[N,3,h]");
}

TEST(Import, BindsDimensionsByName) {
  const Graph graph = imported_graph(opset_model(13, kTwoInputs), {"N=2", "h=7"});
  EXPECT_EQ(type_of(graph, "y"), "f32[2,3,7]");
  EXPECT_EQ(type_of(graph, "w"), "f32[2]");
}

TEST(Import, AnInputsShapeBindsItsSymbolsInOtherInputs) {
  const Graph graph = imported_graph(opset_model(13, kTwoInputs), {"x=4x3x5"});
  EXPECT_EQ(type_of(graph, "w"), "f32[4]");
}

TEST(Import, AnInputsNameWinsOverADimensionsName) {
  const char* const model = "g (float[x, 3] x) => (float[x, 3] y) { y = Relu(x) }";
  EXPECT_EQ(type_of(imported_graph(opset_model(13, model), {"x=2x3"}), "y"), "f32[2,3]");
  EXPECT_EQ(code_of(import_with(opset_model(13, model), {"x=2"})), "import/shape-mismatch");
}

TEST(Import, InputsThatDisagreeOnASymbolKeepTheirExtentsAndLeaveANote) {
  const auto imported = import_with(opset_model(13, kTwoInputs), {"x=4x3x5", "w=6"});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(type_of(imported->graph, "w"), "f32[6]");
  EXPECT_THAT(imported->notes, Contains(HasSubstr("'N'")));
}

TEST(Import, RefusesBindingsThatFitNothing) {
  const std::string model = opset_model(13, kTwoInputs);
  EXPECT_EQ(code_of(import_with(model, {"nobody=3"})), "import/unknown-binding");
  EXPECT_EQ(code_of(import_with(model, {"x=4x3"})), "import/shape-mismatch");
  EXPECT_EQ(code_of(import_with(model, {"x=4x5x5"})), "import/shape-mismatch");
  EXPECT_EQ(code_of(import_with(model, {"N=4x5", "h=1"})), "shape/malformed");
}

TEST(Import, BindsScalarsAndEmptyDimensions) {
  const char* const model = "g (float[n] x, float s) => (float[n] y) { y = Mul(x, s) }";
  EXPECT_EQ(type_of(imported_graph(opset_model(13, model), {"x=0", "s="}), "y"), "f32[0]");
}

TEST(Import, ReadsAMinusOneAsAnOpenDimension) {
  auto model =
      model_of(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[1, 3] x) => (float[1, 3] y) { y = Relu(x) })");
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(-1);
  EXPECT_EQ(code_of(import_with(bytes_of(model))), "import/unbound-dimension");
  EXPECT_EQ(type_of(imported_graph(bytes_of(model), {"x=5x3"}), "y"), "f32[5,3]");
}

TEST(Import, StaleShapesOfOutputsAndInnerValuesDoNotMatter) {
  const char* const model = "g (float[N, 4] x) => (float[7, 9] y) <float[1, 1] t> { t = Relu(x) y = Relu(t) }";
  EXPECT_EQ(type_of(imported_graph(opset_model(13, model), {"N=2"}), "y"), "f32[2,4]");
}

TEST(Import, InitialisersAmongInputsBecomeConstants) {
  const std::string model = bytes_of(model_of(R"(<ir_version: 3, opset_import: ["" : 9]>
      g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) })"));
  const auto imported = import_with(model);
  ASSERT_TRUE(imported) << to_string(imported.error());
  ASSERT_EQ(imported->graph.inputs.size(), 1U);
  EXPECT_NE(constant_of(imported->graph, imported->graph.nodes[0].inputs[1]), nullptr);
  EXPECT_THAT(imported->notes, Contains(HasSubstr("1 initialiser")));

  ::onnx::ModelProto bound;
  ASSERT_TRUE(bound.ParseFromString(imported->bound_model));
  EXPECT_EQ(bound.graph().input_size(), 1);
  EXPECT_GE(bound.ir_version(), 4);
  EXPECT_EQ(bound.opset_import(0).version(), 9);
}

TEST(Import, TheBoundModelIsTheUsersAtItsOwnOpset) {
  const auto imported =
      import_with(opset_model(11, "g (float[N, 4, 5] x) => (float[N, 4, 5] y) { y = Softmax(x) }"), {"N=2"});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->opset, 11);
  EXPECT_THAT(imported->notes, IsEmpty());
  ::onnx::ModelProto bound;
  ASSERT_TRUE(bound.ParseFromString(imported->bound_model));
  EXPECT_EQ(bound.graph().node_size(), 1);
  EXPECT_EQ(bound.graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 2);
}

}  // namespace
}  // namespace collage::testing
