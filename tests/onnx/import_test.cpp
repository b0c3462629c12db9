#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "tests/onnx/model_text.h"
#include "tests/support/scratch_folder.h"

namespace collage::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Import, BringsEveryModelToTheCanonicalOpset) {
  const Graph graph =
      imported_graph(opset_model(9, "g (float[1, 4] x) => (float[4] y) { y = Squeeze<axes = [0]>(x) }"));
  EXPECT_EQ(graph.opsets.at(""), 26);
  ASSERT_THAT(operators_of(graph), ElementsAre("Squeeze"));
  ASSERT_EQ(graph.nodes[0].inputs.size(), 2U);  // the axes are an input by now
  ASSERT_NE(constant_of(graph, graph.nodes[0].inputs[1]), nullptr);
  EXPECT_EQ(integers_of(*constant_of(graph, graph.nodes[0].inputs[1])), std::vector<std::int64_t>{0});
}

TEST(Import, KeepsNamesAndOrderOfInputsOutputsAndNodes) {
  const Graph graph =
      imported_graph(opset_model(9, R"(my_graph (float[2] second, float[2] first) => (float[2] z, float[2] a)
      { [node_one] z = Sub(first, second) [node_two] a = Add(z, z) })"));
  EXPECT_EQ(graph.name, "my_graph");
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "second");
  EXPECT_EQ(graph.value(graph.inputs[1]).name, "first");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "z");
  EXPECT_EQ(graph.value(graph.outputs[1]).name, "a");
  EXPECT_EQ(graph.nodes[0].name, "node_one");
  EXPECT_EQ(graph.nodes[1].name, "node_two");
}

TEST(Import, NamesThatLookLikeTheConvertersAreKept) {
  const Graph graph = imported_graph(opset_model(9, R"(g (float[1, 4] _v_0) => (float[4] _v_2)
      { _v_1 = Squeeze<axes = [0]>(_v_0) _v_3 = Unsqueeze<axes = [0]>(_v_1) _v_2 = Squeeze<axes = [0]>(_v_3) })"));
  EXPECT_THAT(operators_of(graph), ElementsAre("Squeeze", "Unsqueeze", "Squeeze"));
  for (const char* name : {"_v_0", "_v_1", "_v_2", "_v_3"}) EXPECT_NE(type_of(graph, name), "no such value") << name;
}

TEST(Import, ConstantNodesBecomeConstants) {
  const Graph graph = imported_graph(opset_model(13, R"(g (float[2] x) => (float[2] y)
      { c = Constant<value_floats = [1.0, 2.0]>() y = Add(x, c) })"));
  EXPECT_THAT(operators_of(graph), ElementsAre("Add"));
  const Tensor* constant = constant_of(graph, graph.nodes[0].inputs[1]);
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(floats_of(*constant), (std::vector<double>{1, 2}));
}

TEST(Import, FoldsShapeArithmeticUntilShapesAreStatic) {
  const Graph graph = imported_graph(opset_model(13, R"(g (float[N, 3, 4] x) => (float[a, b] y) {
      s = Shape(x)
      zero = Constant<value = int64[1] {0}>()
      n = Gather(s, zero)
      minus = Constant<value = int64[1] {-1}>()
      target = Concat<axis = 0>(n, minus)
      y = Reshape(x, target) })"),
                                     {"N=5"});
  EXPECT_THAT(operators_of(graph), ElementsAre("Reshape"));
  EXPECT_EQ(type_of(graph, "y"), "f32[5,12]");
}

TEST(Import, FoldsScaleFactorsWithTheRoundingOfTheirType) {
  const Graph graph = imported_graph(opset_model(13, R"(g (float[1, 1, 6, 6] x) => (float[a, b, c, d] y) {
      s = Shape(x)
      f = Cast<to = 1>(s)
      two = Constant<value = float[4] {1, 1, 1.5, 0.5}>()
      scaled = Mul(f, two)
      floor = Floor(scaled)
      sizes = Cast<to = 7>(floor)
      y = Resize(x, , , sizes) })"));
  EXPECT_THAT(operators_of(graph), ElementsAre("Resize"));
  EXPECT_EQ(type_of(graph, "y"), "f32[1,1,9,3]");
}

TEST(Import, ModelFunctionsAreInlined) {
  const Graph graph = imported_graph(bytes_of(model_of(R"(
      <ir_version: 8, opset_import: ["" : 13, "local" : 1]>
      g (float[2] x) => (float[2] y) { y = local.twice(x) }
      <domain: "local", opset_import: ["" : 13]> twice (a) => (b) { t = Relu(a) b = Add(t, t) })")));
  EXPECT_THAT(operators_of(graph), ElementsAre("Relu", "Add"));
  EXPECT_FALSE(graph.opsets.contains("local"));
}

TEST(Import, BodiesBecomeGraphsWithCaptures) {
  const Graph graph = imported_graph(opset_model(13, R"(g (bool c, float[2] x) => (float[2] y) {
      t = Relu(x)
      y = If(c) <then_branch = then_g () => (float[2] a) { a = Add(t, x) },
                 else_branch = else_g () => (float[2] b) { b = Neg(t) }> })"));
  const Node& branch = node_of(graph, "If");
  ASSERT_EQ(branch.captures.size(), 2U);
  EXPECT_EQ(graph.value(branch.captures[0]).name, "t");  // bodies in attribute order: else_branch first
  EXPECT_EQ(graph.value(branch.captures[1]).name, "x");
  const Body* body = find_attribute<Body>(branch, "then_branch");
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(body->graph->captures.size(), 2U);
  EXPECT_EQ(type_of(*body->graph, "a"), "f32[2]");
}

TEST(Import, WholeNumbersThatABodyCapturesGiveItsValuesTheirShapes) {
  const Graph graph = imported_graph(opset_model(13, R"(g (bool c, float[2, 6] x) => (float[a] y)
      <int64[2] shape = {3, 4}, float[2, 6] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
      y = If(c) <then_branch = then_g () => (float[b] t) {
                   t = If(c) <then_branch = inner () => (float[d] p) { p = Reshape(x, shape) },
                              else_branch = other () => (float[e] q) { q = Reshape(w, shape) }> },
                 else_branch = else_g () => (float[f] r) { s = Add(x, w) r = Reshape(s, shape) }> })"));
  EXPECT_EQ(type_of(graph, "y"), "f32[3,4]");
  const Node& branch = node_of(graph, "If");
  std::vector<std::string> captured;
  for (const ValueId id : branch.captures) captured.push_back(graph.value(id).name);
  EXPECT_THAT(captured, ::testing::UnorderedElementsAre("c", "x", "w")) << "floats stay outside";
}

TEST(Import, ShapesThatAnIterationChangesAreNotBelieved) {
  const Graph graph =
      imported_graph(opset_model(13, R"(g (int64 n, float[1, 4] x, float[2] z) => (float[a, b] y, float[c] w) {
      y, w = Loop(n, , x, z) <body = b (int64 i, bool go, float[1, 4] s, float[2] t) => (bool keep, float[d, e] u, float[f] v) {
        keep = Identity(go)
        p = Relu(s)
        u = Concat<axis = 0>(p, s)
        v = Neg(t)
      }> })"));
  const Body* body = find_attribute<Body>(node_of(graph, "Loop"), "body");
  ASSERT_NE(body, nullptr);
  EXPECT_THAT(type_of(*body->graph, "p"), ::testing::MatchesRegex(R"(f32\[[^1,]+,4\])")) << "the list grows";
  EXPECT_EQ(type_of(*body->graph, "v"), "f32[2]") << "what keeps its extents is known";
}

TEST(Import, KeepsOperatorsOfVendorsThatSomebodyKnowsAndInfersTheirShapes) {
  const Graph graph = imported_graph(bytes_of(model_of(R"(<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]>
      g (float[1, 4, 8, 8] x, float[6, 4, 3, 3] w) => (float[a, b, c, d] y)
      { t = com.microsoft.FusedConv<activation = "Relu", pads = [1, 1, 1, 1]>(x, w) y = com.microsoft.FastGelu(t) })")));
  EXPECT_EQ(type_of(graph, "y"), "f32[1,6,8,8]");
  EXPECT_EQ(graph.nodes[0].domain, "com.microsoft");
}

TEST(Import, InfersTheShapesOfQuantisedOperatorsOfVendors) {
  const Graph graph = imported_graph(bytes_of(model_of(R"(<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]>
      g (uint8[2, 4, 8, 6] x, float s, uint8 z, int8[10, 8] w, int8 wz, int8[10, 12] v, bool[2, 1] k) =>
        (uint8[a, b] q, float[c, d] f, float[e, o] m, uint8[i, j] r)
      {
        c2 = com.microsoft.QLinearConcat<axis = -3>(s, z, x, s, z, x, s, z)
        p = com.microsoft.QLinearAveragePool<kernel_shape = [2, 2], strides = [2, 2]>(c2, s, z, s, z)
        last = com.microsoft.QLinearGlobalAveragePool<channels_last = 1>(p, s, z, s, z)
        pooled = com.microsoft.QLinearGlobalAveragePool(p, s, z, s, z)
        rows = Flatten(pooled)
        q = com.microsoft.QGemm<transB = 1>(rows, s, z, w, s, wz, , s, z)
        f = com.microsoft.QGemm<transB = 1>(rows, s, z, w, s, wz)
        whole = com.microsoft.MatMulIntegerToFloat(q, v, s, s)
        real = Cast<to = 1>(q)
        m = com.microsoft.DynamicQuantizeMatMul(real, v, s)
        r = com.microsoft.QLinearWhere(k, q, s, z, q, s, z, s, z)
      })")));
  EXPECT_EQ(type_of(graph, "c2"), "u8[2,8,8,6]");
  EXPECT_EQ(type_of(graph, "p"), "u8[2,8,4,3]");
  EXPECT_EQ(type_of(graph, "last"), "u8[2,1,1,3]");
  EXPECT_EQ(type_of(graph, "pooled"), "u8[2,8,1,1]");
  EXPECT_EQ(type_of(graph, "q"), "u8[2,10]");
  EXPECT_EQ(type_of(graph, "f"), "f32[2,10]");
  EXPECT_EQ(type_of(graph, "whole"), "f32[2,12]");
  EXPECT_EQ(type_of(graph, "m"), "f32[2,12]");
  EXPECT_EQ(type_of(graph, "r"), "u8[2,10]");
}

TEST(Import, InfersTheShapesOfQuantisedLayersOfVendors) {
  const Graph graph = imported_graph(bytes_of(model_of(R"(<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]>
      g (float[7, 2, 3] x, int8[1, 3, 20] w, int8[1, 5, 20] r, float[1] s, int8[1] z, int32[2, 6] ids, uint8[30, 8] words,
         uint8[9, 8] places, uint8[8] row, float t, uint8 u) => (float[a, b, c, d] all, float[e, f, g] last, float[h, i, j] y)
      {
        all, last = com.microsoft.DynamicQuantizeLSTM<hidden_size = 5>(x, w, r, , , , , , s, z, s, z)
        y, mask = com.microsoft.QEmbedLayerNormalization(ids, , words, places, , row, row, , t, t, , t, t, u, u, , u, u)
      })")));
  EXPECT_EQ(type_of(graph, "all"), "f32[7,1,2,5]");
  EXPECT_EQ(type_of(graph, "last"), "f32[1,2,5]");
  EXPECT_EQ(type_of(graph, "y"), "f32[2,6,8]");
}

TEST(Import, RefusesAnOperatorNobodyKnowsNamingTheNode) {
  const auto standard = import_with(opset_model(13, "g (float[2] x) => (float[2] y) { [culprit] y = Frobnicate(x) }"));
  ASSERT_EQ(code_of(standard), "import/unknown-operator");
  EXPECT_EQ(standard.error().exit, ExitCode::kUnsupported);
  EXPECT_THAT(standard.error().where, HasSubstr("culprit"));
  EXPECT_THAT(standard.error().where, HasSubstr("Frobnicate"));

  const auto vendor = import_with(bytes_of(model_of(R"(<ir_version: 8, opset_import: ["" : 13, "acme" : 1]>
      g (float[2] x) => (float[2] y) { y = acme.Frobnicate(x) })")));
  ASSERT_EQ(code_of(vendor), "import/unknown-operator");
  EXPECT_THAT(vendor.error().where, HasSubstr("acme::Frobnicate"));
}

TEST(Import, RefusesUnknownOperatorsInsideBodies) {
  const auto imported = import_with(opset_model(13, R"(g (bool c, float[2] x) => (float[2] y) {
      y = If(c) <then_branch = t () => (float[2] a) { a = Frobnicate(x) },
                 else_branch = e () => (float[2] b) { b = Neg(x) }> })"));
  EXPECT_EQ(code_of(imported), "import/unknown-operator");
}

TEST(Import, RefusesOpsetsThatAreTooOldOrTooNew) {
  const char* const graph = "g (float[2] x) => (float[2] y) { y = Neg(x) }";
  EXPECT_EQ(code_of(import_with(opset_model(5, graph))), "import/opset-too-old");
  EXPECT_EQ(code_of(import_with(opset_model(6, graph))), "ok") << "Neg is the same in sets 6 and 7";
  EXPECT_EQ(code_of(import_with(opset_model(7, graph))), "ok");
  EXPECT_EQ(code_of(import_with(opset_model(28, graph))), "ok");
  const auto newer = import_with(opset_model(29, graph));
  EXPECT_EQ(code_of(newer), "import/opset-too-new");
  EXPECT_EQ(newer.error().exit, ExitCode::kUnsupported);
}

TEST(Import, RefusesMeaningsNewerThanTheCanonicalOpset) {
  const auto imported =
      import_with(opset_model(28, "g (float[2] x, float[2] z) => (float[2] y) { y = Mod<fmod = 0>(x, z) }"));
  ASSERT_EQ(code_of(imported), "import/newer-operator");
  EXPECT_THAT(imported.error().saw, HasSubstr("Mod"));
}

TEST(Import, RefusesShapesThatCannotBe) {
  const auto imported =
      import_with(opset_model(13, "g (float[2, 3] x, float[4, 5] w) => (float[2, 5] y) { [bad] y = MatMul(x, w) }"));
  ASSERT_EQ(code_of(imported), "import/shape-inference");
  EXPECT_THAT(imported.error().saw, HasSubstr("bad"));
}

TEST(Import, TakesModelsWithoutTheDefaultDomain) {
  const auto imported = import_with(bytes_of(model_of(R"(<ir_version: 8, opset_import: ["ai.onnx.ml" : 1]>
      g (float[1, 3] x) => (float[1, 3] y) { y = ai.onnx.ml.Scaler<offset = [0.0], scale = [2.0]>(x) })")));
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->graph.opsets.at(""), 26);
  EXPECT_EQ(imported->graph.opsets.at("ai.onnx.ml"), 1);
  EXPECT_EQ(imported->opset, 0);
}

TEST(Import, TheLongSpellingOfTheDefaultDomainIsTheSameDomain) {
  const Graph graph = imported_graph(bytes_of(model_of(R"(<ir_version: 8, opset_import: ["ai.onnx" : 9]>
      g (float[1, 2] x) => (float[2] y) { y = ai.onnx.Squeeze<axes = [0]>(x) })")));
  EXPECT_THAT(operators_of(graph), ElementsAre("Squeeze"));
  EXPECT_TRUE(graph.nodes[0].domain.empty());
}

/// The same graph with these versions of the default domain, in this order.
std::string softmax_with_opsets(const std::vector<std::pair<std::string, int>>& opsets) {
  auto model = model_of(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax(x) })");
  model.clear_opset_import();
  for (const auto& [domain, version] : opsets) {
    auto* opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  return bytes_of(model);
}

TEST(Import, RefusesADomainAtTwoVersions) {
  // Softmax works along another axis before version 13: readers that take another one see another model.
  for (const auto& twice : {softmax_with_opsets({{"", 13}, {"", 11}}), softmax_with_opsets({{"", 11}, {"", 13}}),
                            softmax_with_opsets({{"", 13}, {"ai.onnx", 11}})})
    EXPECT_EQ(code_of(import_with(twice)), "import/invalid-model");
  EXPECT_EQ(code_of(import_with(softmax_with_opsets({{"", 13}, {"ai.onnx", 13}}))), "ok") << "one domain by two names";
}

TEST(Import, SkipsFieldsThatItDoesNotKnow) {
  const std::string model = opset_model(13, "g (float[2] x) => (float[2] y) { y = Relu(x) }");
  const Graph whole = imported_graph(model);
  // Fields 60 to 63 as an integer, text, and numbers of four and eight bytes; 1000 as text.
  const std::string unknown = std::string("\xe0\x03\x07", 3) + "\xea\x03\x02hi" +
                              "\xf5\x03"
                              "abcd" +
                              "\xf9\x03"
                              "abcdefgh" +
                              "\xc2\x3e\x01!";
  EXPECT_EQ(to_text(imported_graph(model + unknown)), to_text(whole));
  auto nested = model_of(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  auto& node = *nested.mutable_graph()->mutable_node(0);
  ASSERT_TRUE(node.ParseFromString(node.SerializeAsString() + unknown));
  EXPECT_EQ(to_text(imported_graph(bytes_of(nested))), to_text(whole));
}

TEST(Import, DropsOptionalOutputsThatNobodyReads) {
  const Graph graph = imported_graph(opset_model(9, R"(g (float[1, 1, 4, 4] x) => (float[1, 1, 2, 2] y)
      { y, unused = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) })"));
  EXPECT_EQ(node_of(graph, "MaxPool").outputs.size(), 1U);
}

TEST(Import, LargeWeightsSurviveConversion) {
  auto model = model_of(
      R"(<ir_version: 8, opset_import: ["" : 9]> g (float[1, 64] x) => (float[1, 64] y) { y = MatMul(x, w) })");
  std::vector<float> weights(64 * 64);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_dims(64);
  tensor.add_dims(64);
  tensor.set_raw_data(weights.data(), weights.size() * sizeof(float));
  const Graph graph = imported_graph(bytes_of(model));
  const Tensor* constant = constant_of(graph, node_of(graph, "MatMul").inputs[1]);
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(*constant, make_tensor(ElementType::kFloat32, {64, 64}, weights));
}

TEST(Import, TheHashTellsModelsApart) {
  const auto a = import_with(opset_model(13, "g (float[2] x) => (float[2] y) { y = Neg(x) }"));
  const auto b = import_with(opset_model(13, "g (float[2] x) => (float[2] y) { y = Abs(x) }"));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->model_hash.size(), 32U);
  EXPECT_NE(a->model_hash, b->model_hash);
}

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("external_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "inside");
    write(folder_ / "inside" / "weights.bin", {1, 2, 3, 4});
    write(folder_ / "outside.bin", {1, 2, 3, 4});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void write(const std::filesystem::path& path, const std::vector<float>& values) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }

  /// y = x + w, where w is [2] floats at `offset` of `location`.
  Result<Imported> import_weights(const std::string& location, const std::string& offset,
                                  const std::string& length = "8", const std::string& checksum = "") {
    auto model =
        model_of(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) { y = Add(x, w) })");
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    if (!checksum.empty()) add("checksum", checksum);
    return import_model(bytes_of(model), (folder_ / "inside").string(), {});
  }

  std::filesystem::path folder_;
};

TEST_F(ExternalData, IsLoadedFromTheModelsFolder) {
  const auto imported = import_weights("weights.bin", "4");
  ASSERT_TRUE(imported) << to_string(imported.error());
  const Tensor* constant = constant_of(imported->graph, node_of(imported->graph, "Add").inputs[1]);
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(floats_of(*constant), (std::vector<double>{2, 3}));
  ::onnx::ModelProto bound;
  ASSERT_TRUE(bound.ParseFromString(imported->bound_model));
  EXPECT_EQ(bound.graph().initializer(0).raw_data().size(), 8U);
}

TEST_F(ExternalData, MayNotLeaveTheModelsFolder) {
  std::filesystem::create_symlink(folder_ / "outside.bin", folder_ / "inside" / "link.bin");
  const std::vector<std::string> locations = {
      "../outside.bin", (folder_ / "outside.bin").string(), "link.bin", "a/../../outside.bin", "", "."};
  for (const std::string& location : locations)
    EXPECT_EQ(code_of(import_weights(location, "0")), "import/external-data") << location;
}

TEST_F(ExternalData, MustBeThereAndLongEnough) {
  EXPECT_EQ(code_of(import_weights("missing.bin", "0")), "import/not-found");
  EXPECT_EQ(code_of(import_weights("weights.bin", "12")), "import/external-data");
  EXPECT_EQ(code_of(import_weights("weights.bin", "18446744073709551615")), "import/external-data");
  EXPECT_EQ(code_of(import_weights("weights.bin", "x")), "import/external-data");
  EXPECT_EQ(code_of(import_weights("weights.bin", "0", "4")), "import/external-data");
  const auto cut = import_weights("weights.bin", "12");
  EXPECT_THAT(to_string(cut.error()), ::testing::HasSubstr("bytes 12 to 20 of 'weights.bin', which has 16"));
}

TEST_F(ExternalData, IsComparedWithItsChecksum) {
  const std::string right = "c26df9440df999ae7d765499acd5ca855709702f";
  EXPECT_EQ(code_of(import_weights("weights.bin", "4", "8", right)), "ok");
  EXPECT_EQ(code_of(import_weights("weights.bin", "4", "8", "C26DF9440DF999AE7D765499ACD5CA855709702F")), "ok");
  write(folder_ / "inside" / "weights.bin", {1, 2, 3, 5});
  const auto changed = import_weights("weights.bin", "4", "8", right);
  ASSERT_EQ(code_of(changed), "import/external-data");
  EXPECT_THAT(to_string(changed.error()),
              ::testing::AllOf(::testing::HasSubstr("weights.bin"), ::testing::HasSubstr(right)));
  EXPECT_EQ(code_of(import_weights("weights.bin", "4", "8", "no checksum")), "import/external-data");
}

TEST_F(ExternalData, IsPartOfTheHash) {
  const std::string before = import_weights("weights.bin", "0")->model_hash;
  write(folder_ / "inside" / "weights.bin", {1, 3, 3, 4});
  EXPECT_NE(import_weights("weights.bin", "0")->model_hash, before);
}

TEST(Import, TakesWhatExportersWriteWithoutMeaning) {
  const std::vector<std::string> graphs = {
      R"(g (float[1, 2, 6, 6] x, float[3, 2, 3, 3] w) => (float[1, 3, 4, 4] y) { y = Conv<auto_pad = "">(x, w) })",
      R"(g (float[1, 2, 6, 6] x) => (float[1, 2, 6, 6] y)
         { y = MaxPool<kernel_shape = [3, 3], auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1]>(x) })",
      R"(g (float[8] x) => (int8[8] y) <float s = {0.1}, int8 z = {0}> { y = QuantizeLinear<axis = 1>(x, s, z) })"};
  for (const std::string& graph : graphs) EXPECT_FALSE(imported_graph(opset_model(17, graph)).nodes.empty()) << graph;
}

TEST(Import, CountsFunctionsUnderBothNamesOfOnnxDomain) {
  std::string text =
      R"(<ir_version: 8, opset_import: ["": 17, "ai.onnx": 17]> g (float[2] x) => (float[2] y) { y = f0(x) })";
  for (int i = 0; i < 40; ++i) {
    const std::string next = i < 39 ? "ai.onnx.f" + std::to_string(i + 1) : "Relu";
    text += fmt::format("\n<opset_import: [\"\": 17, \"ai.onnx\": 17]> f{} (a) => (c) {{ b = {}(a) c = {}(b) }}", i,
                        next, next);
  }
  EXPECT_EQ(code_of(import_with(bytes_of(model_of(text)))), "import/limit");
}

TEST(Import, WeightsMayLieWhereALinkToTheModelLeads) {
  const test::ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "blobs");
  std::filesystem::create_directories(folder.path() / "snapshot");
  ::onnx::ModelProto model;
  model.ParseFromString(opset_model(17, "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"));
  auto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.clear_float_data();
  weight.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto& place = *weight.add_external_data();
  place.set_key("location");
  place.set_value("w.bin");
  std::ofstream(folder.path() / "blobs/1", std::ios::binary) << bytes_of(model);
  std::ofstream(folder.path() / "blobs/2", std::ios::binary) << std::string(8, '\0');
  std::filesystem::create_symlink("../blobs/1", folder.path() / "snapshot/m.onnx");
  std::filesystem::create_symlink("../blobs/2", folder.path() / "snapshot/w.bin");
  EXPECT_EQ(code_of(import_model((folder.path() / "snapshot/m.onnx").string())), "ok");
  // The same link beside a model that lies in this folder itself leads out of it.
  std::filesystem::copy_file(folder.path() / "blobs/1", folder.path() / "snapshot/copy.onnx");
  EXPECT_EQ(code_of(import_model((folder.path() / "snapshot/copy.onnx").string())), "import/external-data");
}

}  // namespace
}  // namespace collage::testing
