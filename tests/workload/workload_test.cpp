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
  std::size_t dense;    ///< Gemm, and MatMul with constant weights
  std::size_t batched;  ///< MatMul of two computed operands
  std::string output;
};

class Core : public testing::TestWithParam<CoreCase> {};

TEST_P(Core, HasTheOperatorsAndShapesOfThePaper) {
  const CoreCase& expected = GetParam();
  const Graph graph = make_workload(expected.name).value();
  ASSERT_TRUE(verify(graph).has_value());
  EXPECT_EQ(count(graph, "Conv"), expected.convolutions);
  EXPECT_EQ(distinct_convolutions(graph), expected.distinct);
  std::size_t dense = count(graph, "Gemm");
  std::size_t batched = 0;
  for (const Node& node : graph.nodes)
    if (is_op(node, "MatMul")) ++(constant_of(graph, node.inputs[1]) ? dense : batched);
  EXPECT_EQ(dense, expected.dense);
  EXPECT_EQ(batched, expected.batched);
  EXPECT_EQ(output_type(graph), expected.output);
  EXPECT_EQ(graph.value(graph.inputs.at(0)).name, "input0");
}

INSTANTIATE_TEST_SUITE_P(Paper, Core,
                         testing::Values(CoreCase{"bert_full", 0, 0, 48, 16, "f32[1,64,256]"},
                                         CoreCase{"dcgan", 7, 7, 2, 0, "f32[1,1]"},
                                         CoreCase{"nasneta", 204, 15, 0, 0, "f32[1,1280,14,14]"},
                                         CoreCase{"resnet50_3d", 52, 22, 0, 0, "f32[1,2048,1,7,7]"},
                                         CoreCase{"resnext50_32x4d", 52, 23, 0, 0, "f32[1,2048,7,7]"}),
                         [](const auto& parameter) { return parameter.param.name; });

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
