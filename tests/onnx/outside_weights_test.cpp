// A model whose weights were taken out is the one that the exporter writes with external data.
#include "onnx/outside_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx/export.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

constexpr std::size_t kInline = 8;

std::string file_name(std::size_t i) { return "weights " + std::to_string(i); }

Tensor floats(std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return make_tensor<float>(ElementType::kFloat32, {count}, values);
}

struct Weighted {
  Graph graph{.name = "g", .opsets = {{"", 26}}};
  ValueId large;
  ValueId small;
  ValueId last;
  std::vector<ValueId> constants;
};

/// y = ((x + large) + small) + last; of these only `small` is not larger than kInline bytes.
Weighted weighted() {
  Weighted made;
  Graph& graph = made.graph;
  const auto type = ValueType::tensor(ElementType::kFloat32, {4});
  ValueId sum = add_value(graph, "x", type);
  graph.inputs = {sum};
  made.large = add_constant(graph, "large", floats({1, 2, 3, 4}));
  made.small = add_constant(graph, "small", floats({5}));
  made.last = add_constant(graph, "last", floats({6, 7, 8, 9}));
  made.constants = {made.large, made.small, made.last};
  for (const ValueId constant : made.constants) {
    const ValueId next = add_value(graph, "after " + graph.value(constant).name, type);
    add_node(graph, {.name = graph.value(next).name, .op_type = "Add", .inputs = {sum, constant}, .outputs = {next}});
    sum = next;
  }
  graph.outputs = {sum};
  return made;
}

OutsideWeights taken(const std::string& model, const Graph& graph, std::span<const ValueId> candidates) {
  return take_weights_outside(model, graph, candidates, {.inline_limit = kInline, .file = file_name});
}

TEST(OutsideWeights, AreWhatTheExporterWrites) {
  const Weighted made = weighted();
  std::size_t files = 0;
  const std::string expected =
      export_graph(made.graph, {.external = [&](ValueId) -> std::optional<ExternalLocation> {
                                  return ExternalLocation{.file = file_name(files++), .offset = 0};
                                },
                                .inline_limit = kInline});
  const OutsideWeights slim = taken(export_graph(made.graph), made.graph, made.constants);
  EXPECT_EQ(slim.model, expected);
  EXPECT_THAT(slim.constants, ::testing::ElementsAre(made.large, made.last));
}

TEST(OutsideWeights, StayWhereNoConstantIsTheirs) {
  Weighted made = weighted();
  const std::string model = export_graph(made.graph);
  EXPECT_THAT(taken(model, made.graph, std::vector{made.last}).constants, ::testing::ElementsAre(made.last));

  made.graph.values[made.large.index].constant = floats({1, 2, 3, 5});
  EXPECT_THAT(taken(model, made.graph, made.constants).constants, ::testing::ElementsAre(made.last)) << "other bytes";
  made.graph.values[made.last.index].constant = make_tensor<float>(ElementType::kFloat32, {2, 2}, {6, 7, 8, 9});
  EXPECT_EQ(taken(model, made.graph, made.constants).model, model) << "other extents";
}

TEST(OutsideWeights, LeaveBytesAloneThatAreNoModel) {
  const Weighted made = weighted();
  const std::string model = export_graph(made.graph);
  for (const std::string& bytes : {std::string("no model at all"), model.substr(0, model.size() - 3), std::string()}) {
    const OutsideWeights same = taken(bytes, made.graph, made.constants);
    EXPECT_EQ(same.model, bytes);
    EXPECT_TRUE(same.constants.empty());
  }
}

}  // namespace
}  // namespace collage::testing
