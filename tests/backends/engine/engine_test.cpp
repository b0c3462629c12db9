// What every engine backend must do, asked of each that is built.
#include "tests/backends/engine/engine_fixture.h"

#include <array>
#include <cstring>
#include <thread>

#include "base/clock.h"

#include "onnx/export.h"

namespace collage::testing {
namespace {

constexpr double kClose = 2e-5;

class Engine : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto kinds = registry_.kinds();
    if (std::find(kinds.begin(), kinds.end(), GetParam()) == kinds.end()) GTEST_SKIP() << GetParam() << " is not built";
    const auto found = registry_.get(GetParam());
    ASSERT_TRUE(found.has_value()) << to_string(found.error());
    backend_ = *found;
  }

  /// The region's tensors by the plain variant.
  std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs) {
    auto outputs = run_graph(*backend_, graph, inputs);
    EXPECT_TRUE(outputs.has_value()) << to_string(outputs.error());
    return outputs ? *std::move(outputs) : std::vector<Tensor>{};
  }

  [[nodiscard]] RefusalReason refusal_of(const Graph& graph) const {
    const auto variants = backend_->support(graph, region_of(graph), {});
    return variants ? RefusalReason::kCrashed : variants.error().reason;
  }

  Registry& registry_ = test_registry();
  Backend* backend_ = nullptr;
};

TEST_P(Engine, SaysWhatItIs) {
  const BackendInfo& info = backend_->info();
  EXPECT_EQ(info.kind, GetParam());
  EXPECT_TRUE(info.is_engine);
  EXPECT_EQ(info.unusable, "");
  EXPECT_FALSE(info.version.empty());
  EXPECT_NE(info.build.find(info.version), std::string::npos);
  EXPECT_EQ(backend_->rules().growth, Growth::kAny);
  EXPECT_GT(backend_->rules().patterns.size(), 5U);
  EXPECT_TRUE(check_patterns(backend_->rules()));
}

TEST_P(Engine, ComputesAnAddition) {
  const Graph graph = single("Add", {f32({3}), f32({3})}, f32({3}));
  const auto outputs = run(graph, {make_tensor<float>(ElementType::kFloat32, {3}, {1, 2, 3}),
                                   make_tensor<float>(ElementType::kFloat32, {3}, {10, 20, -30})});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0], (make_tensor<float>(ElementType::kFloat32, {3}, {11, 22, -27})));
}

/// Products one after the other: about a second of work.
Graph long_chain() {
  GraphMaker maker;
  ValueId x = maker.input("x", f32({1024, 1024}));
  const ValueId w = maker.constant("w", noise_tensor({1024, 1024}, 1));
  for (int i = 0; i < 60; ++i) x = maker.op("Tanh", {maker.op("MatMul", {x, w}, f32({1024, 1024}))}, f32({1024, 1024}));
  maker.output(x);
  return std::move(maker.graph);
}

TEST_P(Engine, EndsARunThatIsCancelled) {
  const Graph graph = long_chain();
  std::stop_token cancel;
  const Region region = region_of(graph);
  const CompileRequest request{.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  const auto kernel = backend_->load(load_request(request, *compiled[0]));
  ASSERT_TRUE(kernel.has_value()) << to_string(kernel.error());
  const Tensor input = noise_tensor({1024, 1024}, 2);
  const Tensor output = noise_tensor({1024, 1024}, 3);
  const auto call = (*kernel)->bind(
      {.inputs = {input.data.data()}, .outputs = {const_cast<std::byte*>(output.data.data())}, .cancel = &cancel});
  ASSERT_TRUE(call.has_value()) << to_string(call.error());
  std::stop_source source;
  cancel = source.get_token();
  const auto begin = Clock::now();
  std::jthread other([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const auto done = (*call)->run();
  const Seconds ended = Clock::now() - begin;
  EXPECT_FALSE(done.has_value());
  cancel = {};
  const auto again_begin = Clock::now();
  EXPECT_TRUE((*call)->run().has_value()) << "the next run is a run like any other";
  EXPECT_LT(ended, Seconds(Clock::now() - again_begin) / 2);
}

TEST_P(Engine, ComputesAMatrixProduct) {
  const Graph graph = single("MatMul", {f32({2, 2}), f32({2, 2})}, f32({2, 2}));
  const auto outputs = run(graph, {make_tensor<float>(ElementType::kFloat32, {2, 2}, {1, 2, 3, 4}),
                                   make_tensor<float>(ElementType::kFloat32, {2, 2}, {5, 6, 7, 8})});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0], (make_tensor<float>(ElementType::kFloat32, {2, 2}, {19, 22, 43, 50})));
}

TEST_P(Engine, KeepsIntegersOfEveryWidth) {
  const auto twice = [&]<class T>(ElementType type, const std::vector<T>& values, const std::vector<T>& expected) {
    const Extents extents = {static_cast<std::int64_t>(values.size())};
    const Graph graph = single("Concat", {ValueType::tensor(type, extents), ValueType::tensor(type, extents)},
                               ValueType::tensor(type, {2 * extents[0]}), {integer("axis", 0)});
    const Tensor tensor = make_tensor<T>(type, extents, values);
    const auto outputs = run(graph, {tensor, tensor});
    ASSERT_EQ(outputs.size(), 1U) << name_of(type);
    EXPECT_EQ(outputs[0], make_tensor<T>(type, {2 * extents[0]}, expected)) << name_of(type);
  };
  twice(ElementType::kInt64, std::vector<std::int64_t>{-5, 7}, std::vector<std::int64_t>{-5, 7, -5, 7});
  twice(ElementType::kInt32, std::vector<std::int32_t>{-5, 7}, std::vector<std::int32_t>{-5, 7, -5, 7});
  twice(ElementType::kUint8, std::vector<std::uint8_t>{0, 255}, std::vector<std::uint8_t>{0, 255, 0, 255});
  twice(ElementType::kInt8, std::vector<std::int8_t>{-128, 127}, std::vector<std::int8_t>{-128, 127, -128, 127});
  // 16-bit floats by their bits: 1.5 and -2.
  twice(ElementType::kFloat16, std::vector<std::uint16_t>{0x3E00, 0xC000},
        std::vector<std::uint16_t>{0x3E00, 0xC000, 0x3E00, 0xC000});
}

TEST_P(Engine, GivesBooleans) {
  const Graph graph = single("Greater", {f32({4}), f32({4})}, ValueType::tensor(ElementType::kBool, {4}));
  const auto outputs = run(graph, {make_tensor<float>(ElementType::kFloat32, {4}, {1, 5, -1, 0}),
                                   make_tensor<float>(ElementType::kFloat32, {4}, {0, 6, -2, 0})});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0], (make_tensor<std::uint8_t>(ElementType::kBool, {4}, {1, 0, 1, 0})));
}

TEST_P(Engine, TakesScalars) {
  const Graph graph = single("Add", {f32({}), f32({})}, f32({}));
  const auto outputs = run(graph, {make_tensor<float>(ElementType::kFloat32, {}, {1.5F}),
                                   make_tensor<float>(ElementType::kFloat32, {}, {2})});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0], (make_tensor<float>(ElementType::kFloat32, {}, {3.5F})));
}

TEST_P(Engine, TakesTensorsWithoutElements) {
  const Graph graph = single("Concat", {f32({0, 2}), f32({1, 2})}, f32({1, 2}), {integer("axis", 0)});
  const auto outputs = run(graph, {make_tensor<float>(ElementType::kFloat32, {0, 2}, {}),
                                   make_tensor<float>(ElementType::kFloat32, {1, 2}, {4, 5})});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0], (make_tensor<float>(ElementType::kFloat32, {1, 2}, {4, 5})));
}

TEST_P(Engine, FetchesAnOutputOfUnknownShape) {
  ValueType unknown = ValueType::tensor(ElementType::kInt64, {1, 1});
  unknown.shape = Shape{Dim{.extent = 2, .symbol = {}}, Dim{}};
  const Graph graph = single("NonZero", {f32({2, 2})}, unknown);
  ASSERT_TRUE(backend_->support(graph, region_of(graph), {}).has_value());
  const auto outputs = run(graph, {make_tensor<float>(ElementType::kFloat32, {2, 2}, {0, 3, 4, 0})});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0], (make_tensor<std::int64_t>(ElementType::kInt64, {2, 2}, {0, 1, 1, 0})));
}

TEST_P(Engine, EveryVariantGivesTheNumbersOfThePlainOne) {
  const Graph graph = conv_net();
  const Region region = region_of(graph);
  const std::vector<Tensor> inputs = {noise_tensor({1, 8, 10, 10}, 9)};
  const auto variants = backend_->support(graph, region, {});
  ASSERT_TRUE(variants.has_value()) << variants.error().detail;
  ASSERT_GE(variants->size(), 2U);
  EXPECT_EQ((*variants)[0], plain_variant(region));
  EXPECT_EQ((*variants)[1].name, "channels_last");
  EXPECT_TRUE((*variants)[1].input_formats[0].is_channels_last());
  EXPECT_TRUE((*variants)[1].output_formats[1].is_channels_last());
  const auto expected = run(graph, inputs);
  ASSERT_EQ(expected.size(), 2U);
  for (const Variant& variant : *variants) {
    const auto outputs =
        run_request(*backend_, {.graph = &graph, .region = region, .variant = variant, .model_bytes = {}}, inputs);
    ASSERT_TRUE(outputs.has_value()) << variant.name << ": " << to_string(outputs.error());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LT(distance((*outputs)[i], expected[i]), kClose) << variant.name << ", output " << i;
  }
}

TEST_P(Engine, RunsAPartOfAGraph) {
  const Graph graph = conv_net();
  const Uses uses = uses_of(graph);
  NodeSet nodes(graph.nodes.size());
  nodes.insert(1);
  nodes.insert(2);
  const Region region = make_region(graph, uses, nodes);
  const Tensor x = noise_tensor({1, 16, 10, 10}, 10);
  const auto variants = backend_->support(graph, region, {});
  ASSERT_TRUE(variants.has_value());
  for (const Variant& variant : *variants) {
    const auto outputs =
        run_request(*backend_, {.graph = &graph, .region = region, .variant = variant, .model_bytes = {}}, {x});
    ASSERT_TRUE(outputs.has_value()) << variant.name << ": " << to_string(outputs.error());
    const auto in = x.data.as<float>();
    const auto added = graph.values[3].constant->data.as<float>();
    const auto out = (*outputs)[0].data.as<float>();
    ASSERT_EQ(out.size(), in.size());
    for (std::size_t i = 0; i < in.size(); ++i) EXPECT_FLOAT_EQ(out[i], std::max(in[i] + added[i / 100], 0.0F));
  }
}

TEST_P(Engine, RunsAgainOnNewContents) {
  const Graph graph = single("Relu", {f32({4})}, f32({4}));
  const Region region = region_of(graph);
  const CompileRequest request{.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  auto bound =
      bind_artifact(*backend_, request, *compiled[0], {make_tensor<float>(ElementType::kFloat32, {4}, {1, -1, 2, -2})});
  ASSERT_TRUE(bound.has_value()) << to_string(bound.error());
  EXPECT_EQ(bound->bound.run().value()[0], (make_tensor<float>(ElementType::kFloat32, {4}, {1, 0, 2, 0})));
  const std::array<float, 4> next = {-3, 5, -7, 9};
  std::memcpy(bound->bound.input(0).data(), next.data(), sizeof next);
  EXPECT_EQ(bound->bound.run().value()[0], (make_tensor<float>(ElementType::kFloat32, {4}, {0, 5, 0, 9})));
}

TEST_P(Engine, BindsOneKernelFromManyThreads) {
  const Graph graph = token_net();
  const Region region = region_of(graph);
  const CompileRequest request{.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  const auto kernel = backend_->load(load_request(request, *compiled[0]));
  ASSERT_TRUE(kernel.has_value());
  const auto expected = run(graph, {noise_tensor({4, 32}, 11)});
  std::array<double, 3> off = {INFINITY, INFINITY, INFINITY};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < off.size(); ++t)
    threads.emplace_back([&, t] {
      const Tensor in = noise_tensor({4, 32}, 11);
      std::vector<float> out(4 * 48);
      const auto call = (*kernel)->bind({.inputs = {in.data.data()}, .outputs = {out.data()}});
      if (!call || !(*call)->run() || !(*call)->run()) return;
      off[t] = distance(make_tensor(ElementType::kFloat32, {4, 48}, out), expected[0]);
    });
  for (std::thread& thread : threads) thread.join();
  for (const double one : off) EXPECT_LT(one, kClose);
}

TEST_P(Engine, TwoThreadsGiveTheSameNumbers) {
  const Graph graph = conv_net();
  const Region region = region_of(graph);
  const std::vector<Tensor> inputs = {noise_tensor({1, 8, 10, 10}, 12)};
  const auto expected = run(graph, inputs);
  const auto outputs =
      run_request(*backend_, {.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}},
                  inputs, {.threads = 2});
  ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
  EXPECT_LT(distance((*outputs)[0], expected[0]), kClose);
}

TEST_P(Engine, CompilesAWholeModelFromItsBytes) {
  // The bytes compute a subtraction where the graph says addition: the bytes count. Their inputs come in another
  // order than the region's and one of them is read by nobody.
  const Graph graph = single("Add", {f32({2}), f32({2})}, f32({2}));
  GraphMaker other;
  other.input("unused", f32({3}));
  const ValueId b = other.input("in1", f32({2}));
  const ValueId a = other.input("in0", f32({2}));
  const ValueId difference = other.op("Sub", {a, b}, f32({2}));
  other.graph.value(difference).name = graph.value(graph.outputs[0]).name;
  other.output(difference);
  const Region region = region_of(graph);
  const auto outputs = run_request(
      *backend_,
      {.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = export_graph(other.graph)},
      {make_tensor<float>(ElementType::kFloat32, {2}, {5, 7}),
       make_tensor<float>(ElementType::kFloat32, {2}, {1, 10})});
  ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
  EXPECT_EQ((*outputs)[0], (make_tensor<float>(ElementType::kFloat32, {2}, {4, -3})));
}

TEST_P(Engine, RefusesModelBytesThatAreNoModel) {
  const Graph graph = single("Relu", {f32({2})}, f32({2}));
  const Region region = region_of(graph);
  const CompileRequest request{
      .graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = "no model at all"};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_FALSE(compiled[0].has_value());
  EXPECT_EQ(compiled[0].error().reason, RefusalReason::kCompile);
  EXPECT_FALSE(compiled[0].error().detail.empty());
  EXPECT_LE(compiled[0].error().detail.size(), 300U);
  EXPECT_EQ(compiled[0].error().detail.find('\n'), std::string::npos);
}

TEST_P(Engine, RefusesModelBytesWithOtherPorts) {
  const Graph graph = single("Relu", {f32({2})}, f32({2}));
  const Graph other = token_net();
  const Region region = region_of(graph);
  const std::string model = export_graph(other);
  const CompileRequest request{
      .graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = model};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_FALSE(compiled[0].has_value());
  EXPECT_NE(compiled[0].error().detail.find("in0"), std::string::npos) << compiled[0].error().detail;
}

TEST_P(Engine, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal_of(single("Frobnicate", {f32({2})}, f32({2}), {}, "com.example")), RefusalReason::kOperator);
  EXPECT_EQ(refusal_of(single("ImageDecoder", {ValueType::tensor(ElementType::kUint8, {9})},
                              ValueType::tensor(ElementType::kUint8, {1, 1, 3}))),
            RefusalReason::kOperator);
}

/// Strings and sequences cross its border as objects of ONNX Runtime; other engines have none.
TEST_P(Engine, TakesStringsAndSequencesAtTheBorderWhereItPassesThemOn) {
  const ValueType text = ValueType::tensor(ElementType::kString, {2});
  ValueType sequence;
  sequence.kind = ValueKind::kSequence;
  sequence.inner = {f32({2})};
  for (const ValueType& type : {text, sequence}) {
    const Graph graph = single("Identity", {type}, type);
    const auto variants = backend_->support(graph, region_of(graph), {});
    EXPECT_EQ(variants.has_value(), backend_->info().takes_held) << to_string(type);
    if (!variants) {
      EXPECT_EQ(variants.error().reason, RefusalReason::kType);
    }
  }
}

TEST_P(Engine, TakesPortsOfOpenShapeAndRefusesThoseOfUnknownRank) {
  ValueType unknown = ValueType::tensor(ElementType::kInt64, {1, 1});
  unknown.shape = Shape{Dim{.extent = 2, .symbol = {}}, Dim{}};
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({2, 2}));
  const ValueId found = maker.op("NonZero", {x}, unknown);
  maker.output(found);
  maker.output(maker.op("Neg", {found}, unknown));
  NodeSet nodes[] = {NodeSet(2), NodeSet(2)};
  const auto supported = [&](std::size_t node) {
    nodes[node].insert(node);
    return backend_->support(maker.graph, make_region(maker.graph, uses_of(maker.graph), nodes[node]), {});
  };
  EXPECT_TRUE(supported(0).has_value());
  EXPECT_TRUE(supported(1).has_value());
  maker.graph.value(found).type.shape = std::nullopt;
  ASSERT_FALSE(supported(0).has_value());
  EXPECT_EQ(supported(0).error().reason, RefusalReason::kShape);
  EXPECT_FALSE(supported(1).has_value());
  EXPECT_TRUE(backend_->support(maker.graph, region_of(maker.graph), {}).has_value());
}

TEST_P(Engine, OffersOnlyPlainWhereChannelsLastIsNothingElse) {
  const Graph tokens = token_net();
  EXPECT_EQ(backend_->support(tokens, region_of(tokens), {})->size(), 1U);
  const Graph pixel = single("Relu", {f32({2, 8, 1, 1})}, f32({2, 8, 1, 1}));
  EXPECT_EQ(backend_->support(pixel, region_of(pixel), {})->size(), 1U);
}

TEST_P(Engine, RefusesArtifactsThatAreNotItsOwn) {
  const Graph graph = single("Relu", {f32({2})}, f32({2}));
  const Region region = region_of(graph);
  const CompileRequest request{.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  const auto code_of = [&](const Artifact& artifact) -> std::string {
    const auto loaded = backend_->load(load_request(request, artifact));
    return loaded ? "loaded" : loaded.error().code;
  };
  ASSERT_EQ(code_of(*compiled[0]), "loaded");

  Artifact changed = *compiled[0];
  changed.compatibility += " of another machine";
  EXPECT_EQ(code_of(changed), "backend/incompatible");
  changed = *compiled[0];
  changed.bytes = "garbage";
  EXPECT_EQ(code_of(changed), "backend/bad-artifact");
  changed = *compiled[0];
  changed.bytes.clear();
  EXPECT_EQ(code_of(changed), "backend/bad-artifact");
  changed = *compiled[0];
  changed.bytes.resize(changed.bytes.find("\n\n") + 2);
  EXPECT_TRUE(code_of(changed).starts_with("backend/")) << code_of(changed);
  changed = *compiled[0];
  changed.bytes.replace(changed.bytes.find("\n\n") + 2, std::string::npos, "rubbish instead of a model");
  EXPECT_EQ(code_of(changed), "backend/library-failed");
}

TEST_P(Engine, RefusesArtifactsWithOtherPorts) {
  const Graph graph = single("Relu", {f32({2})}, f32({2}));
  const Graph other = single("Relu", {f32({2}), f32({2})}, f32({2}));
  const Region region = region_of(graph);
  const CompileRequest request{.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  LoadRequest load = load_request(request, *compiled[0]);
  load.inputs.push_back({.name = "another", .type = f32({2})});
  const auto loaded = backend_->load(load);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, "backend/bad-artifact");
}

TEST_P(Engine, RefusesToBindTheWrongNumberOfBuffers) {
  const Graph graph = single("Relu", {f32({2})}, f32({2}));
  const Region region = region_of(graph);
  const CompileRequest request{.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}};
  const auto compiled = backend_->compile({&request, 1}, {});
  ASSERT_TRUE(compiled[0].has_value());
  const auto kernel = backend_->load(load_request(request, *compiled[0]));
  ASSERT_TRUE(kernel.has_value());
  const auto call = (*kernel)->bind({});
  ASSERT_FALSE(call.has_value());
  EXPECT_EQ(call.error().code, "backend/wrong-ports");
}

TEST_P(Engine, SaysWhyAnInstanceWithUnknownOptionsIsUnusable) {
  const auto made = registry_.get(GetParam() + ":colour=red");
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(to_string(made.error()).find("colour"), std::string::npos) << to_string(made.error());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Engine, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& kind) { return kind.param; });

TEST(Engines, AgreeWithEachOther) {
  Registry& registry = test_registry();
  const auto one = registry.get("onnxruntime:opt=off");
  const auto other = registry.get("openvino");
  if (!one || !other) GTEST_SKIP() << "needs both";
  const std::vector<std::pair<Graph, Tensor>> cases = {{conv_net(), noise_tensor({1, 8, 10, 10}, 20)},
                                                       {token_net(), noise_tensor({4, 32}, 21)}};
  for (const auto& [graph, input] : cases) {
    const auto expected = run_graph(**one, graph, {input});
    const auto outputs = run_graph(**other, graph, {input});
    ASSERT_TRUE(expected.has_value()) << to_string(expected.error());
    ASSERT_TRUE(outputs.has_value()) << to_string(outputs.error());
    for (std::size_t i = 0; i < expected->size(); ++i) EXPECT_LT(distance((*outputs)[i], (*expected)[i]), kClose);
  }
}

}  // namespace
}  // namespace collage::testing
