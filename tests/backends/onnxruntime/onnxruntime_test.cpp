// What is particular to ONNX Runtime: shared weights, optimisation levels, older operators, the strict class.
#include <gmock/gmock.h>

#include "onnx/export.h"
#include "tests/backends/engine/engine_fixture.h"

namespace collage::testing {
namespace {

class Onnxruntime : public ::testing::Test {
 protected:
  Backend& instance(const std::string& name) {
    const auto found = registry_.get(name);
    EXPECT_TRUE(found.has_value()) << to_string(found.error());
    return **found;
  }

  Registry& registry_ = test_registry();
};

CompileRequest whole_request(const Graph& graph) {
  const Region region = region_of(graph);
  return {.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
}

/// x [16,64] plus a constant that is large enough to lie outside the model.
Graph add_large_constant(Tensor constant) {
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({16, 64}));
  const ValueId c = maker.constant("large", std::move(constant));
  maker.output(maker.op("Add", {x, c}, f32({16, 64})));
  return maker.graph;
}

TEST_F(Onnxruntime, ReadsLargeConstantsInPlace) {
  const auto memory = std::make_shared<std::vector<float>>(16 * 64, 1.0F);
  const Tensor large{.type = ElementType::kFloat32,
                     .extents = {16, 64},
                     .data = Buffer(memory, std::as_bytes(std::span(*memory))),
                     .strings = {}};
  const Graph graph = add_large_constant(large);
  const CompileRequest request = whole_request(graph);
  Backend& backend = instance("onnxruntime");
  const auto compiled = backend.compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value()) << compiled[0].error().detail;
  ASSERT_EQ(compiled[0]->constants.size(), 1U);
  EXPECT_EQ(graph.value(compiled[0]->constants[0]).name, "large");
  EXPECT_LT(compiled[0]->bytes.size(), large.data.size());

  auto bound = bind_artifact(backend, request, *compiled[0], {noise_tensor({16, 64}, 1)});
  ASSERT_TRUE(bound.has_value()) << to_string(bound.error());
  const Tensor first = bound->bound.run().value()[0];
  // Only a kernel that shares the memory sees the change.
  std::fill(memory->begin(), memory->end(), 3.0F);
  const Tensor second = bound->bound.run().value()[0];
  for (std::size_t i = 0; i < 16 * 64; ++i)
    ASSERT_FLOAT_EQ(second.data.as<float>()[i], first.data.as<float>()[i] + 2.0F) << i;
}

TEST_F(Onnxruntime, StoresTheUsersModelWithoutTheWeightsThatThePlanHas) {
  const Tensor large = noise_tensor({16, 64}, 3);
  const Graph graph = add_large_constant(large);
  const std::string model = export_graph(graph);
  CompileRequest request = whole_request(graph);
  request.model_bytes = model;
  Backend& backend = instance("onnxruntime");
  const auto compiled = backend.compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value()) << compiled[0].error().detail;
  EXPECT_THAT(compiled[0]->constants, ::testing::ElementsAre(request.region.constants.at(0)));
  EXPECT_LT(compiled[0]->bytes.size(), large.data.size());

  const std::vector<Tensor> inputs = {noise_tensor({16, 64}, 4)};
  const auto apart = run_request(backend, request, inputs);
  request.region.constants.clear();  // whole, as a program of the user's would load it
  const auto whole = run_request(backend, request, inputs);
  ASSERT_TRUE(apart.has_value() && whole.has_value());
  EXPECT_EQ(apart->at(0), whole->at(0));
}

TEST_F(Onnxruntime, KeepsConstantsAliveWithTheKernel) {
  std::unique_ptr<Kernel> kernel;
  const Tensor x = noise_tensor({16, 64}, 2);
  {
    const Graph graph = add_large_constant(noise_tensor({16, 64}, 3));
    const CompileRequest request = whole_request(graph);
    Backend& backend = instance("onnxruntime");
    const auto compiled = backend.compile({&request, 1}, {});
    ASSERT_TRUE(compiled[0].has_value());
    auto loaded = backend.load(load_request(request, *compiled[0]));
    ASSERT_TRUE(loaded.has_value());
    kernel = std::move(*loaded);
  }
  std::vector<float> out(16 * 64);
  const auto call = kernel->bind({.inputs = {x.data.data()}, .outputs = {out.data()}});
  ASSERT_TRUE(call.has_value());
  kernel.reset();
  ASSERT_TRUE((*call)->run().has_value());
  const std::vector<float> added = noise(16 * 64, 3);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_FLOAT_EQ(out[i], x.data.as<float>()[i] + added[i]);
}

TEST_F(Onnxruntime, KeepsSmallConstantsInside) {
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({4}));
  const ValueId c = maker.constant("small", make_tensor<float>(ElementType::kFloat32, {4}, {1, 2, 3, 4}));
  maker.output(maker.op("Add", {x, c}, f32({4})));
  const CompileRequest request = whole_request(maker.graph);
  const auto compiled = instance("onnxruntime").compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  EXPECT_TRUE(compiled[0]->constants.empty());
}

TEST_F(Onnxruntime, RefusesToLoadWithoutItsConstants) {
  const Graph graph = add_large_constant(noise_tensor({16, 64}, 4));
  const CompileRequest request = whole_request(graph);
  Backend& backend = instance("onnxruntime");
  const auto compiled = backend.compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  LoadRequest load = load_request(request, *compiled[0]);
  load.constants.clear();
  const auto loaded = backend.load(load);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, "backend/bad-artifact");
}

TEST_F(Onnxruntime, EveryOptimisationLevelGivesTheSameNumbers) {
  const Graph graph = conv_net();
  const std::vector<Tensor> inputs = {noise_tensor({1, 8, 10, 10}, 5)};
  const auto expected = run_graph(instance("onnxruntime:opt=off"), graph, inputs);
  ASSERT_TRUE(expected.has_value()) << to_string(expected.error());
  for (const char* level : {"basic", "extended", "all"}) {
    const auto outputs = run_graph(instance(std::string("onnxruntime:opt=") + level), graph, inputs);
    ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
    for (std::size_t i = 0; i < expected->size(); ++i)
      EXPECT_LT(distance((*outputs)[i], (*expected)[i]), 2e-5) << level;
  }
}

TEST_F(Onnxruntime, AnUnknownOptimisationLevelIsUnusable) {
  const auto made = registry_.get("onnxruntime:opt=most");
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(to_string(made.error()).find("extended"), std::string::npos) << to_string(made.error());
}

TEST_F(Onnxruntime, ProvidersForGpusAreNamedWhereTheLibraryLacksThem) {
  for (const auto& [instance, provider] :
       {std::pair("onnxruntime:ep=cuda", "CUDAExecutionProvider"),
        {"onnxruntime:device=1,ep=tensorrt,opt=basic", "TensorrtExecutionProvider"}}) {
    const auto backend = registry_.inspect(instance);
    ASSERT_TRUE(backend) << to_string(backend.error());
    const std::string why = (*backend)->info().unusable;
    if (why.empty()) continue;  // a library for GPUs
    EXPECT_THAT(why, ::testing::HasSubstr(std::string("this ONNX Runtime has no ") + provider + ", only "));
    EXPECT_THAT(why, ::testing::HasSubstr("CPUExecutionProvider"));
  }
}

TEST_F(Onnxruntime, UnknownProvidersAndGpusAreUnusable) {
  const auto why = [&](const char* instance) {
    const auto backend = registry_.inspect(instance);
    return backend ? (*backend)->info().unusable : to_string(backend.error());
  };
  EXPECT_EQ(why("onnxruntime:ep=npu"), "ep='npu'; allowed cpu, cuda, tensorrt");
  EXPECT_EQ(why("onnxruntime:device=x"), "device='x'; allowed the number of a GPU");
  EXPECT_THAT(why("onnxruntime:speed=1"), ::testing::HasSubstr("allowed opt=off|basic|extended|all, ep=cpu"));
}

TEST_F(Onnxruntime, RunsOperatorsItOnlyHasInAnOlderSet) {
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({1, 2, 8, 8}));
  const ValueId rois =
      maker.constant("rois", make_tensor<float>(ElementType::kFloat32, {2, 4}, {0, 0, 4, 4, 2, 2, 7, 7}));
  const ValueId batch = maker.constant("batch", make_tensor<std::int64_t>(ElementType::kInt64, {2}, {0, 0}));
  maker.output(maker.op("RoiAlign", {x, rois, batch}, f32({2, 2, 2, 2}),
                        {integer("output_height", 2), integer("output_width", 2)}));
  std::vector<float> image(2 * 64, 3.0F);
  std::fill(image.begin() + 64, image.end(), -5.0F);
  const auto outputs =
      run_graph(instance("onnxruntime"), maker.graph, {make_tensor(ElementType::kFloat32, {1, 2, 8, 8}, image)});
  ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_FLOAT_EQ((*outputs)[0].data.as<float>()[i], i / 4 % 2 == 0 ? 3.0F : -5.0F) << i;
}

TEST_F(Onnxruntime, RunsContribOperators) {
  const Graph graph = single("FastGelu", {f32({2})}, f32({2}), {}, "com.microsoft");
  const auto outputs =
      run_graph(instance("onnxruntime"), graph, {make_tensor<float>(ElementType::kFloat32, {2}, {0, 20})});
  ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
  EXPECT_NEAR((*outputs)[0].data.as<float>()[0], 0.0, 1e-6);
  EXPECT_NEAR((*outputs)[0].data.as<float>()[1], 20.0, 1e-4);
}

/// Conv 1x1 with weights of 1e-30, then a BatchNormalization that multiplies by 1e30: with x = 1e-20 the product
/// vanishes in f32 unless the factor was multiplied into the weights.
Graph scaled_conv() {
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({1, 1, 2, 2}));
  const auto vector = [&](const char* name, float value) {
    return maker.constant(name, make_tensor<float>(ElementType::kFloat32, {1}, {value}));
  };
  const ValueId w = maker.constant("w", make_tensor<float>(ElementType::kFloat32, {1, 1, 1, 1}, {1e-30F}));
  const ValueId conv = maker.op("Conv", {x, w}, f32({1, 1, 2, 2}));
  maker.output(maker.op("BatchNormalization",
                        {conv, vector("scale", 1e30F), vector("bias", 0), vector("mean", 0), vector("variance", 1)},
                        f32({1, 1, 2, 2}), {{.name = "epsilon", .value = 0.0F}}));
  return maker.graph;
}

TEST_F(Onnxruntime, TheStrictClassLeavesWeightsAsTheyAre) {
  const Graph graph = scaled_conv();
  const CompileRequest request = whole_request(graph);
  const std::vector<Tensor> inputs = {make_tensor<float>(ElementType::kFloat32, {1, 1, 2, 2}, {1e-20F, 1e-20F, 0, 0})};
  Backend& backend = instance("onnxruntime");
  const auto strict = run_request(backend, request, inputs, {.accuracy = Accuracy::kStrict});
  const auto standard = run_request(backend, request, inputs, {.accuracy = Accuracy::kStandard});
  ASSERT_TRUE(strict.has_value()) << to_string(strict.error());
  ASSERT_TRUE(standard.has_value()) << to_string(standard.error());
  EXPECT_EQ((*strict)[0].data.as<float>()[0], 0.0F);
  EXPECT_GT((*standard)[0].data.as<float>()[0], 0.0F);
}

TEST_F(Onnxruntime, TakesQuantisedValuesThatItsOwnOptimisersStumbleOver) {
  // i8 with its zero point as a constant, moved by a Transpose between quantiser and dequantiser.
  const ValueType bytes = ValueType::tensor(ElementType::kInt8, {2, 3});
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({2, 3}));
  const ValueId scale = maker.constant("scale", make_tensor<float>(ElementType::kFloat32, {}, {0.5F}));
  const ValueId zero = maker.constant("zero", make_tensor<std::int8_t>(ElementType::kInt8, {}, {0}));
  const ValueId quantised = maker.op("QuantizeLinear", {x, scale, zero}, bytes);
  const ValueId restored = maker.op("DequantizeLinear", {quantised, scale, zero}, f32({2, 3}));
  const ValueId turned = maker.op("Transpose", {restored}, f32({3, 2}), {ints("perm", {1, 0})});
  maker.output(maker.op(
      "Squeeze",
      {maker.op("Unsqueeze", {turned, maker.constant("axis", make_tensor<std::int64_t>(ElementType::kInt64, {1}, {0}))},
                f32({1, 3, 2})),
       maker.graph.nodes.back().inputs[1]},
      f32({3, 2})));
  const CompileRequest request = whole_request(maker.graph);
  const auto compiled = instance("onnxruntime").compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value()) << compiled[0].error().detail;
  // Without this the case would not show what it is for.
  EXPECT_NE(compiled[0]->bytes.find("QDQS8ToU8Transformer"), std::string::npos);
  const auto outputs = run_graph(instance("onnxruntime"), maker.graph,
                                 {make_tensor<float>(ElementType::kFloat32, {2, 3}, {1, 2, 3, -1, -2, -100})});
  ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
  EXPECT_EQ((*outputs)[0], (make_tensor<float>(ElementType::kFloat32, {3, 2}, {1, -1, 2, -2, 3, -64})));
}

TEST_F(Onnxruntime, RefusesOperatorSetsItCannotRead) {
  Graph graph = single("Relu", {f32({2})}, f32({2}));
  graph.opsets[""] = 27;
  const auto made = instance("onnxruntime").support(graph, region_of(graph), {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().reason, RefusalReason::kOperator);
}

TEST_F(Onnxruntime, RefusesWhatTheLibraryHasNoKernelFor) {
  const ValueType type = ValueType::tensor(ElementType::kBfloat16, {2});
  const Graph graph = single("Add", {type, type}, type);
  const CompileRequest request = whole_request(graph);
  const auto compiled = instance("onnxruntime").compile({&request, 1}, {});
  ASSERT_FALSE(compiled[0].has_value());
  EXPECT_EQ(compiled[0].error().reason, RefusalReason::kCompile);
  EXPECT_NE(compiled[0].error().detail.find("Add"), std::string::npos) << compiled[0].error().detail;
}

}  // namespace
}  // namespace collage::testing
