// What is particular to OpenVINO: exported blobs, its formats, what it refuses.
#include "onnx/export.h"
#include "tests/backends/engine/engine_fixture.h"

namespace collage::testing {
namespace {

class Openvino : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = registry_.get("openvino");
    ASSERT_TRUE(found.has_value()) << to_string(found.error());
    backend_ = *found;
  }

  [[nodiscard]] RefusalReason refusal_of(const Graph& graph, Accuracy accuracy = Accuracy::kStandard) const {
    const auto variants = backend_->support(graph, region_of(graph), {.threads = 1, .accuracy = accuracy});
    return variants ? RefusalReason::kCrashed : variants.error().reason;
  }

  Registry& registry_ = test_registry();
  Backend* backend_ = nullptr;
};

CompileRequest whole_request(const Graph& graph) {
  const Region region = region_of(graph);
  return {.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
}

TEST_F(Openvino, StoresABlobThatNeedsNoConstants) {
  const Graph graph = conv_net();
  const CompileRequest request = whole_request(graph);
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value()) << compiled[0].error().detail;
  EXPECT_TRUE(compiled[0]->constants.empty());
  EXPECT_NE(compiled[0]->bytes.find("\nform blob\n"), std::string::npos);
  EXPECT_NE(compiled[0]->compatibility.find(backend_->info().build), std::string::npos);
}

TEST_F(Openvino, CompilesAtLoadWhatItCouldNotExport) {
  const Graph graph = single("Relu", {f32({3})}, f32({3}));
  const CompileRequest request = whole_request(graph);
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  Artifact artifact = *compiled[0];
  artifact.bytes = "collage-engine/1\nform onnx\ninputs 0\noutputs 0\n\n" + export_graph(graph);
  auto bound =
      bind_artifact(*backend_, request, artifact, {make_tensor<float>(ElementType::kFloat32, {3}, {-1, 0, 2})});
  ASSERT_TRUE(bound.has_value()) << to_string(bound.error());
  EXPECT_EQ(bound->bound.run().value()[0], (make_tensor<float>(ElementType::kFloat32, {3}, {0, 0, 2})));
}

TEST_F(Openvino, RefusesPortNumbersTheModelDoesNotHave) {
  const Graph graph = single("Relu", {f32({3})}, f32({3}));
  const CompileRequest request = whole_request(graph);
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  for (const char* inputs : {"7", "-1", "x", "0,0", ""}) {
    Artifact artifact = *compiled[0];
    artifact.bytes =
        "collage-engine/1\nform onnx\ninputs " + std::string(inputs) + "\noutputs 0\n\n" + export_graph(graph);
    const auto loaded = backend_->load(load_request(request, artifact));
    ASSERT_FALSE(loaded.has_value()) << inputs;
    EXPECT_EQ(loaded.error().code, "backend/bad-artifact") << inputs;
  }
}

TEST_F(Openvino, MixesFormatsOfInputsAndOutputs) {
  const Graph graph = conv_net();
  const auto variants = backend_->support(graph, region_of(graph), {});
  ASSERT_TRUE(variants.has_value());
  std::vector<std::string> names;
  for (const Variant& variant : *variants) names.push_back(variant.name);
  EXPECT_EQ(names, (std::vector<std::string>{"default", "channels_last", "channels_last_in", "channels_last_out"}));
  EXPECT_TRUE((*variants)[2].input_formats[0].is_channels_last());
  EXPECT_TRUE((*variants)[2].output_formats[0].is_plain());
  EXPECT_TRUE((*variants)[3].input_formats[0].is_plain());
  EXPECT_TRUE((*variants)[3].output_formats[0].is_channels_last());
}

TEST_F(Openvino, TakesChannelsLastOfThreeAndFiveDimensions) {
  for (const Extents& extents : {Extents{1, 4, 6}, Extents{1, 4, 2, 3, 5}}) {
    const Graph graph = single("Relu", {f32(extents)}, f32(extents));
    const Region region = region_of(graph);
    const Tensor x = noise_tensor(extents, 31);
    const auto expected = run_graph(*backend_, graph, {x});
    const auto variants = backend_->support(graph, region, {});
    ASSERT_TRUE(variants.has_value());
    EXPECT_EQ(variants->size(), 4U);
    for (const Variant& variant : *variants) {
      const auto outputs =
          run_request(*backend_, {.graph = &graph, .region = region, .variant = variant, .model_bytes = {}}, {x});
      ASSERT_TRUE(outputs.has_value()) << variant.name << ": " << to_string(outputs.error());
      EXPECT_EQ((*outputs)[0], (*expected)[0]) << variant.name;
    }
  }
}

TEST_F(Openvino, RefusesWhatItCannotConvert) {
  EXPECT_EQ(refusal_of(single("Det", {f32({2, 2})}, f32({}))), RefusalReason::kOperator);
  EXPECT_EQ(refusal_of(single("NGramRepeatBlock", {f32({2})}, f32({2}), {}, "com.microsoft")),
            RefusalReason::kOperator);
  EXPECT_EQ(refusal_of(single("Scaler", {f32({2})}, f32({2}), {}, "ai.onnx.ml")), RefusalReason::kOperator);
}

TEST_F(Openvino, TheStrictClassRulesOutF64InF32) {
  const ValueType type = ValueType::tensor(ElementType::kFloat64, {2});
  const Graph graph = single("Add", {type, type}, type);
  EXPECT_EQ(refusal_of(graph, Accuracy::kStrict), RefusalReason::kAccuracy);
  const auto outputs = run_graph(*backend_, graph,
                                 {make_tensor<double>(ElementType::kFloat64, {2}, {1, 2}),
                                  make_tensor<double>(ElementType::kFloat64, {2}, {0.5, 4})});
  ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
  EXPECT_EQ((*outputs)[0], (make_tensor<double>(ElementType::kFloat64, {2}, {1.5, 6})));
}

TEST_F(Openvino, RefusesTypesThatStayInside) {
  const ValueType type = ValueType::tensor(ElementType::kFloat8E5M2, {2});
  EXPECT_EQ(refusal_of(single("Identity", {type}, type)), RefusalReason::kType);
}

TEST_F(Openvino, LooksIntoBodies) {
  GraphMaker body;
  body.output(body.op("Det", {body.constant("c", noise_tensor({2, 2}, 1))}, f32({})));
  const auto graph = std::make_shared<const Graph>(body.graph);
  const Graph outer =
      single("If", {ValueType::tensor(ElementType::kBool, {})}, f32({}),
             {{.name = "else_branch", .value = Body{graph}}, {.name = "then_branch", .value = Body{graph}}});
  EXPECT_EQ(refusal_of(outer), RefusalReason::kOperator);
}

TEST_F(Openvino, TheStrictClassRulesOutFoldedFactors) {
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({2, 4}));
  const ValueId product = maker.op("MatMul", {x, maker.constant("w", noise_tensor({4, 4}, 1))}, f32({2, 4}));
  maker.output(maker.op("Mul", {product, maker.constant("c", noise_tensor({4}, 2))}, f32({2, 4})));
  EXPECT_EQ(refusal_of(maker.graph, Accuracy::kStrict), RefusalReason::kAccuracy);
  EXPECT_TRUE(backend_->support(maker.graph, region_of(maker.graph), {}).has_value());
  const Graph without = single("MatMul", {f32({2, 4}), f32({4, 4})}, f32({2, 4}));
  EXPECT_TRUE(
      backend_->support(without, region_of(without), {.threads = 1, .accuracy = Accuracy::kStrict}).has_value());
}

TEST_F(Openvino, ComputesInFullPrecision) {
  // 1 + 2^-12 needs more bits than bf16 or f16 have.
  const Graph graph = single("MatMul", {f32({1, 1}), f32({1, 1})}, f32({1, 1}));
  const auto outputs = run_graph(*backend_, graph,
                                 {make_tensor<float>(ElementType::kFloat32, {1, 1}, {1.000244140625F}),
                                  make_tensor<float>(ElementType::kFloat32, {1, 1}, {1})});
  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ((*outputs)[0].data.as<float>()[0], 1.000244140625F);
}

}  // namespace
}  // namespace collage::testing
