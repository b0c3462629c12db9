// Models that make large differences of the last bits: two engines in 32 bits give other outputs.
#include "api/tune/verify.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

/// x[1,3,8,8] -> Conv -> BatchNormalization -> Mul by a million -> Sin: an engine that folds the normalisation into the
/// weights rounds elsewhere, and the sine makes it all of its range.
Graph amplifying_graph() {
  Graph graph;
  graph.name = "amplifying";
  graph.opsets = {{"", 17}};
  const ValueType image = ValueType::tensor(ElementType::kFloat32, {1, 8, 8, 8});
  const auto op = [&](const std::string& op_type, const std::vector<ValueId>& inputs,
                      std::vector<Attribute> attributes = {}) {
    const ValueId out = add_value(graph, op_type + "_out", image);
    add_node(graph, {.name = op_type + "_node",
                     .domain = "",
                     .op_type = op_type,
                     .inputs = inputs,
                     .outputs = {out},
                     .captures = {},
                     .attributes = std::move(attributes)});
    return out;
  };
  const auto constant = [&](const std::string& name, Tensor tensor) {
    return add_constant(graph, name, std::move(tensor));
  };
  const auto positive = [](float first) {
    std::vector<float> values;
    for (int i = 0; i < 8; ++i) values.push_back(first + 0.1F * static_cast<float>(i));
    return make_tensor<float>(ElementType::kFloat32, {8}, values);
  };
  const ValueId x = add_value(graph, "x", ValueType::tensor(ElementType::kFloat32, {1, 3, 8, 8}));
  graph.inputs = {x};
  const ValueId conv = op("Conv", {x, constant("w", test::numbers({8, 3, 3, 3}, 0.5F))},
                          {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const ValueId normal =
      op("BatchNormalization", {conv, constant("scale", positive(0.7F)), constant("bias", positive(0.1F)),
                                constant("mean", positive(0.2F)), constant("variance", positive(0.9F))});
  const ValueId large = op(
      "Mul", {normal, constant("million", make_tensor<float>(ElementType::kFloat32, {1}, std::vector<float>{1e6F}))});
  graph.outputs = {op("Sin", {large})};
  return graph;
}

TEST(AmplifiedRounding, TheReferenceShipsWhereNoOtherEngineKeepsTheBound) {
  const test::Scratch scratch;
  test::write_model(amplifying_graph(), scratch.file("model.onnx"));
  Registry registry(test::module_folders());
  const auto report = tune(test::small_tune(scratch, {"onnxruntime"}), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(std::ranges::any_of(report->notes, [](const std::string& note) {
    return note.starts_with("no engine but the reference keeps the bound");
  })) << ::testing::PrintToString(report->notes);
  const auto verified =
      verify_plan({.plan = report->plan, .model = std::nullopt, .seeds = 1, .input_ranges = {}}, registry);
  ASSERT_TRUE(verified) << to_string(verified.error());
  EXPECT_TRUE(verified->ok) << to_text(*verified);
}

}  // namespace
}  // namespace collage
