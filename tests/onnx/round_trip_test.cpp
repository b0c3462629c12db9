// read_graph(export_graph(g)) == g, for every kind of value, type and attribute a graph can hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "onnx/export.h"
#include "onnx/value_order.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

Graph small_graph() {
  Graph graph{.name = "g", .opsets = {{"", 26}}};
  const ValueId x = add_value(graph, "x", ValueType::tensor(ElementType::kFloat32, {2}));
  const ValueId w = add_constant(graph, "w", make_tensor<float>(ElementType::kFloat32, {2}, {1, 2}));
  const ValueId y = add_value(graph, "y", ValueType::tensor(ElementType::kFloat32, {2}));
  graph.inputs = {x};
  graph.outputs = {y};
  add_node(graph, {.name = "add", .op_type = "Add", .inputs = {x, w}, .outputs = {y}});
  return graph;
}

void expect_round_trip(const Graph& graph, const ExportOptions& options = {}) {
  ASSERT_TRUE(verify(graph)) << to_string(verify(graph).error());
  const std::string bytes = export_graph(graph, options);
  const auto back = read_graph(bytes, "");
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, graph) << to_text(*back) << "\n" << to_text(graph);
  EXPECT_EQ(export_graph(*back, options), bytes);
}

TEST(RoundTrip, OfASmallGraph) { expect_round_trip(small_graph()); }

TEST(RoundTrip, KeepsIdsWhateverTheirOrder) {
  Graph graph{.name = "g", .opsets = {{"", 26}, {"com.microsoft", 1}}};
  const ValueId y = add_value(graph, "y", ValueType::tensor(ElementType::kFloat32, {2}));
  const ValueId w = add_constant(graph, "w", make_tensor<float>(ElementType::kFloat32, {2}, {1, 2}));
  const ValueId t = add_value(graph, "t", ValueType::tensor(ElementType::kFloat32, {2}));
  const ValueId x = add_value(graph, "x", ValueType::tensor(ElementType::kFloat32, {2}));
  const ValueId v = add_constant(graph, "v", make_tensor<float>(ElementType::kFloat32, {2}, {3, 4}));
  graph.inputs = {x};
  graph.outputs = {y};
  add_node(graph, {.name = "b", .op_type = "Add", .inputs = {x, w}, .outputs = {t}});
  add_node(graph, {.name = "a", .domain = "com.microsoft", .op_type = "BiasGelu", .inputs = {t, v}, .outputs = {y}});
  expect_round_trip(graph);
}

TEST(RoundTrip, KeepsTypesOfAllKinds) {
  Graph graph{.name = "g", .opsets = {{"", 26}}};
  ValueType open = ValueType::tensor(ElementType::kInt64, {1, 2, 3});
  (*open.shape)[0] = {.extent = -1, .symbol = "N"};
  (*open.shape)[1] = {};
  const ValueType any_rank{.kind = ValueKind::kTensor, .element = ElementType::kFloat16};
  const ValueType sequence{.kind = ValueKind::kSequence, .inner = {open}};
  const ValueType optional{.kind = ValueKind::kOptional, .inner = {sequence}};
  for (const ValueType& type :
       {open, any_rank, sequence, optional, ValueType{}, ValueType::tensor(ElementType::kString, {})}) {
    const ValueId in = add_value(graph, "", type);
    const ValueId inner = add_value(graph, "", type);
    const ValueId out = add_value(graph, "", type);
    graph.inputs.push_back(in);
    graph.outputs.push_back(out);
    add_node(graph, {.op_type = "Identity", .inputs = {in}, .outputs = {inner}});
    add_node(graph, {.op_type = "Identity", .inputs = {inner}, .outputs = {out}});
  }
  expect_round_trip(graph);
}

TEST(RoundTrip, KeepsConstantsAndAttributesOfAllTypes) {
  Graph graph = small_graph();
  const auto constant = [&](ElementType type, const Extents& extents, std::size_t bytes) {
    const ValueId id = add_constant(
        graph, "",
        Tensor{.type = type, .extents = extents, .data = Buffer::copy_of(std::vector<std::byte>(bytes, std::byte{1}))});
    const ValueId out = add_value(graph, "", ValueType::tensor(type, extents));
    add_node(graph, {.op_type = "Identity", .inputs = {id}, .outputs = {out}});
  };
  for (int type = 1; type <= 26; ++type)
    if (const auto element = static_cast<ElementType>(type); element != ElementType::kString)
      constant(element, {3}, byte_count(element, {3}));
  constant(ElementType::kFloat32, {0, 4}, 0);
  constant(ElementType::kFloat64, {}, 8);
  const Tensor strings{.type = ElementType::kString, .extents = {2}, .strings = {"a", std::string("b\0c", 3)}};
  const ValueId text = add_constant(graph, "text", strings);
  const ValueId text_out = add_value(graph, "text_out", ValueType::tensor(ElementType::kString, {2}));
  add_node(graph, {.op_type = "Identity",
                   .inputs = {text, ValueId{}},
                   .outputs = {text_out, ValueId{}},
                   .attributes = {{"f", 1.5F},
                                  {"i", std::int64_t{-3}},
                                  {"s", std::string("x\0y", 3)},
                                  {"t", strings},
                                  {"fs", std::vector<float>{}},
                                  {"is", std::vector<std::int64_t>{1, 2}},
                                  {"ss", std::vector<std::string>{"p", ""}},
                                  {"ts", std::vector<Tensor>{strings, strings}}}});
  expect_round_trip(graph);
}

TEST(RoundTrip, KeepsBodiesAndTheirCaptures) {
  const Graph graph =
      imported_graph(opset_model(16, R"(g (bool c, bool d, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
      t = Relu(x)
      y = If(c) <then_branch = t0 () => (float[2] a) {
                   a = If(d) <then_branch = t1 () => (float[2] p) { p = Add(t, w) }, else_branch = e1 () => (float[2] q) { q = Sub(x, t) }> },
                 else_branch = e0 () => (float[2] b) <float[2] k = {5, 6}> { b = Mul(x, k) }> })"));
  ASSERT_EQ(node_of(graph, "If").captures.size(), 4U);
  expect_round_trip(graph);

  Graph shuffled = graph;
  for (Node& node : shuffled.nodes) std::ranges::reverse(node.captures);
  Body* body = nullptr;
  for (Node& node : shuffled.nodes)
    for (Attribute& attribute : node.attributes)
      if (attribute.name == "then_branch") body = std::get_if<Body>(&attribute.value);
  ASSERT_NE(body, nullptr);
  Graph changed = *body->graph;
  std::ranges::reverse(changed.captures);
  body->graph = std::make_shared<const Graph>(changed);
  expect_round_trip(shuffled);
}

TEST(RoundTrip, ABodyMayReturnAValueFromOutside) {
  Graph graph = imported_graph(opset_model(16, R"(g (bool c, float[2] x) => (float[2] y) {
      y = If(c) <then_branch = t0 () => (float[2] a) { a = Identity(x) }, else_branch = e0 () => (float[2] b) { b = Neg(x) }> })"));
  for (Node& node : graph.nodes)
    for (Attribute& attribute : node.attributes) {
      if (attribute.name != "then_branch") continue;
      Graph body = *std::get<Body>(attribute.value).graph;
      body.nodes.clear();
      body.outputs = {body.captures[0]};
      attribute.value = Body{std::make_shared<const Graph>(*normalised(body))};
    }
  expect_round_trip(graph);
  ::onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(export_graph(graph)));
  for (const auto& attribute : written.graph().node(0).attribute())  // engines want a node in between
    EXPECT_EQ(attribute.g().node_size(), 1) << attribute.name();
}

TEST(Export, WritesWhatItIsAskedTo) {
  const Graph graph = small_graph();
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(
      export_graph(graph, {.node_metadata =
                               [](NodeId) {
                                 return std::vector<std::pair<std::string, std::string>>{{"collage.backend", "onednn"}};
                               },
                           .ir_version = 11,
                           .keep_ids = false})));
  EXPECT_EQ(model.ir_version(), 11);
  EXPECT_EQ(model.opset_import(0).version(), 26);
  ASSERT_EQ(model.graph().node(0).metadata_props_size(), 1);
  EXPECT_EQ(model.graph().node(0).metadata_props(0).value(), "onednn");
  EXPECT_EQ(model.graph().metadata_props_size(), 0);
}

TEST(Export, RaisesTheIrVersionForNewElementTypes) {
  Graph graph = small_graph();
  const ValueId in = add_value(graph, "new", ValueType::tensor(ElementType::kInt2, {4}));
  graph.inputs.push_back(in);
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(export_graph(graph)));
  EXPECT_EQ(model.ir_version(), 13);
}

TEST(Export, ExternalConstantsAreMappedBackWithoutACopy) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("export_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  Graph graph = small_graph();
  const std::vector<float> values(512, 2.5F);
  const ValueId big = add_constant(graph, "big", make_tensor(ElementType::kFloat32, {512}, values));
  const ValueId out = add_value(graph, "out", ValueType::tensor(ElementType::kFloat32, {512}));
  add_node(graph, {.op_type = "Identity", .inputs = {big}, .outputs = {out}});
  std::ofstream(folder / "w.bin", std::ios::binary) << std::string(64, '#') << graph.value(big).constant->data.text();

  std::vector<ValueId> asked;
  const std::string bytes = export_graph(graph, {.external = [&](ValueId id) {
                                           asked.push_back(id);
                                           return std::optional(ExternalLocation{.file = "w.bin", .offset = 64});
                                         }});
  EXPECT_EQ(asked, std::vector<ValueId>{big});  // the small one stays inside
  const auto back = read_graph(bytes, folder.string());
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, graph);
  EXPECT_FALSE(read_graph(bytes, (folder / "elsewhere").string()));
  EXPECT_FALSE(read_graph(bytes, ""));
  std::filesystem::remove_all(folder);
}

TEST(ValueOrder, IsShortTextThatParsesBack) {
  for (const ValueOrder& permutation : {ValueOrder{}, ValueOrder{0}, ValueOrder{0, 1, 2}, ValueOrder{2, 0, 1, 4, 3}}) {
    EXPECT_EQ(parse_permutation(to_text(permutation), permutation.size()), permutation);
  }
  EXPECT_EQ(to_text(ValueOrder{3, 0, 1, 2}), "3,0-2");
  for (const char* bad : {"0-", "0,0", "1", "0-1", "0-4294967295", "x", "0,", ",0", "-1"})
    EXPECT_FALSE(parse_permutation(bad, 1)) << bad;
}

}  // namespace
}  // namespace collage::testing
