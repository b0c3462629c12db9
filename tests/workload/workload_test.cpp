#include "workload/workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace collage {
namespace {

std::size_t count(const Graph& graph, const std::string& op_type) {
  std::size_t total = 0;
  for (const Node& node : graph.nodes) total += is_op(node, op_type) ? 1 : 0;
  return total;
}

/// Convolutions that differ in input shape, weight shape, strides, pads or groups.
std::size_t distinct_convolutions(const Graph& graph) {
  std::set<std::string> seen;
  for (const Node& node : graph.nodes) {
    if (!is_op(node, "Conv")) continue;
    std::string key = to_string(graph.value(node.inputs[0]).type) + to_string(graph.value(node.inputs[1]).type);
    for (const char* name : {"strides", "pads"})
      for (std::int64_t v : *find_attribute<std::vector<std::int64_t>>(node, name)) key += "," + std::to_string(v);
    seen.insert(key + "g" + std::to_string(attribute_or<std::int64_t>(node, "group", 1)));
  }
  return seen.size();
}

std::string output_type(const Graph& graph) { return to_string(graph.value(graph.outputs.at(0)).type); }

struct CoreCase {
  std::string name;
  std::size_t convolutions;
  std::size_t distinct;
  std::size_t dense;                 ///< Gemm, and MatMul with constant weights
  std::size_t distinct_dense;        ///< by shapes of operand and weights
  std::size_t batched;               ///< MatMul of two computed operands
  std::vector<std::int64_t> output;  ///< after the batch
};

struct Products {
  std::size_t dense = 0;
  std::size_t batched = 0;
  std::set<std::string> distinct_dense;
};

Products products(const Graph& graph) {
  Products found;
  for (const Node& node : graph.nodes) {
    if (!is_op(node, "Gemm") && !is_op(node, "MatMul")) continue;
    if (!constant_of(graph, node.inputs[1])) {
      ++found.batched;
      continue;
    }
    ++found.dense;
    found.distinct_dense.insert(to_string(graph.value(node.inputs[0]).type) +
                                to_string(graph.value(node.inputs[1]).type));
  }
  return found;
}

/// The figures of the paper's own code. It counts no distinct products of bert_full (three here: to 256, to 1024,
/// back).
TEST(Acceptance, TheCoresHaveTheOperatorsAndShapesOfThePaper) {
  for (const CoreCase& expected :
       {CoreCase{"bert_full", 0, 0, 48, 3, 16, {64, 256}}, CoreCase{"dcgan", 7, 7, 2, 2, 0, {1}},
        CoreCase{"nasneta", 204, 15, 0, 0, 0, {1280, 14, 14}},
        CoreCase{"resnet50_3d", 52, 22, 0, 0, 0, {2048, 1, 7, 7}},
        CoreCase{"resnext50_32x4d", 52, 23, 0, 0, 0, {2048, 7, 7}}})
    for (const std::int64_t batch : {1, 8}) {
      SCOPED_TRACE(expected.name + ", batch " + std::to_string(batch));
      const Graph graph = make_workload(expected.name, {.batch = batch}).value();
      ASSERT_TRUE(verify(graph).has_value());
      EXPECT_EQ(count(graph, "Conv"), expected.convolutions);
      EXPECT_EQ(distinct_convolutions(graph), expected.distinct);
      const Products found = products(graph);
      EXPECT_EQ(found.dense, expected.dense);
      EXPECT_EQ(found.distinct_dense.size(), expected.distinct_dense);
      EXPECT_EQ(found.batched, expected.batched);
      Extents output = {batch};
      output.insert(output.end(), expected.output.begin(), expected.output.end());
      EXPECT_EQ(output_type(graph), to_string(ValueType::tensor(ElementType::kFloat32, output)));
      EXPECT_EQ(graph.value(graph.inputs.at(0)).name, "input0");
    }
}

/// Networks that the paper's code has as cores and we have whole. The stem is one convolution more, in a configuration
/// of its own: 53 for 52 and 23 for 22 in resnet50, 52 for 51 and 30 for 29 in mobilenet_v2. yolov3 has all its 75
/// convolutions, for 80 classes where the paper's has 20, and gives all three heads.
TEST(Acceptance, WholeNetworksHaveTheirStemBesidesTheirCore) {
  const Graph resnet = make_workload("resnet50").value();
  EXPECT_EQ(count(resnet, "Conv"), 52U + 1U);
  EXPECT_EQ(distinct_convolutions(resnet), 22U + 1U);
  const Graph mobilenet = make_workload("mobilenet_v2").value();
  EXPECT_EQ(count(mobilenet, "Conv"), 51U + 1U);
  EXPECT_EQ(distinct_convolutions(mobilenet), 29U + 1U);
  const Graph yolo = make_workload("yolov3").value();
  EXPECT_EQ(count(yolo, "Conv"), 75U);
  EXPECT_EQ(yolo.outputs.size(), 3U);
}

struct CompleteCase {
  std::string name;
  std::size_t convolutions;
  std::string output;
};

class Complete : public testing::TestWithParam<CompleteCase> {};

TEST_P(Complete, HasItsConvolutionsAndOutput) {
  const Graph graph = make_workload(GetParam().name).value();
  ASSERT_TRUE(verify(graph).has_value());
  EXPECT_EQ(count(graph, "Conv"), GetParam().convolutions);
  EXPECT_EQ(output_type(graph), GetParam().output);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Complete,
    testing::Values(CompleteCase{"mnist", 2, "f32[1,10]"}, CompleteCase{"resnet50", 53, "f32[1,1000]"},
                    CompleteCase{"mobilenet_v2", 52, "f32[1,1000]"}, CompleteCase{"squeezenet1_1", 26, "f32[1,1000]"},
                    CompleteCase{"densenet121", 120, "f32[1,1000]"}, CompleteCase{"unet", 28, "f32[1,1,256,256]"},
                    CompleteCase{"yolov3", 75, "f32[1,255,13,13]"}, CompleteCase{"vit_small", 1, "f32[1,1000]"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(Workload, TakesBatchTokensAndLayers) {
  const Graph graph = make_workload("bert_full", {.batch = 8, .seq = 16, .layers = 2}).value();
  EXPECT_EQ(output_type(graph), "f32[8,16,256]");
  EXPECT_EQ(count(graph, "MatMul"), 16U);
}

TEST(Workload, LeavesTheBatchSymbolicWhenDynamic) {
  const Graph graph = make_workload("mnist", {.dynamic = true}).value();
  EXPECT_EQ(to_string(graph.value(graph.inputs[0]).type), "f32[batch,1,28,28]");
  EXPECT_EQ(output_type(graph), "f32[batch,10]");
}

TEST(Workload, LeavesTheTokensSymbolicWhenTheyAreDynamic) {
  for (const bool dynamic : {false, true}) {
    const Graph graph =
        make_workload("bert_base", {.batch = 2, .seq = 32, .layers = 1, .dynamic = dynamic, .dynamic_seq = true})
            .value();
    EXPECT_TRUE(verify(graph));
    const std::string batch = dynamic ? "batch" : "2";
    EXPECT_EQ(to_string(graph.value(graph.inputs[0]).type), "i64[" + batch + ",seq]");
    EXPECT_EQ(output_type(graph), "f32[" + batch + ",seq,768]");
  }
  EXPECT_EQ(make_workload("gpt2", {.dynamic_seq = true}).error().code, "workload/bad-size");
}

TEST(Workload, IsTheSameForTheSameSeedAndDiffersForAnother) {
  EXPECT_EQ(make_workload("mnist", {.seed = 3}).value(), make_workload("mnist", {.seed = 3}).value());
  EXPECT_NE(make_workload("mnist", {.seed = 3}).value(), make_workload("mnist", {.seed = 4}).value());
}

TEST(Workload, HasFiniteWeightsOfTheScaleAsked) {
  const Graph graph = make_workload("mnist").value();
  for (const Value& value : graph.values) {
    if (!value.constant || value.constant->type != ElementType::kFloat32) continue;
    const std::vector<double> weights = floats_of(*value.constant).value();
    for (double weight : weights) ASSERT_LT(std::abs(weight), 3.0) << value.name;
  }
}

TEST(Workload, RefusesUnknownNamesAndImpossibleSizes) {
  EXPECT_EQ(make_workload("resnet5000").error().code, "workload/unknown-name");
  EXPECT_EQ(make_workload("mnist", {.batch = 0}).error().code, "workload/bad-size");
  EXPECT_EQ(make_workload("mnist", {.seq = 4}).error().code, "workload/bad-size");
}

}  // namespace
}  // namespace collage
