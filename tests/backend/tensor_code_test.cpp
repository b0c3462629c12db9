#include "backend/tensor_code.h"

#include <gtest/gtest.h>

#include "backend/write_tensor_code.h"
#include "tests/backend/hook_tables.h"

namespace collage {
namespace {

class TensorCodeTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string fault() const { return fault_of(code, chain.graph, chain.relu).value_or("none"); }
  test::Chain chain = test::chain();
  TensorCode code = test::row_code();
};

TEST_F(TensorCodeTest, DescriptionsThatFitAreTaken) {
  EXPECT_EQ(fault(), "none");
  code.arguments[0].extents = {2, 3, 2};  // a broadcast and a transposed view of four numbers
  code.arguments[0].strides = {1, 0, 2};
  EXPECT_EQ(fault(), "none");
}

TEST_F(TensorCodeTest, BuffersThatLeaveTheirPortAreFaults) {
  code.arguments[0].extents = {5};
  EXPECT_EQ(fault(), "argument 0: a buffer that leaves f32[4] x");
  code.arguments[0].extents = {2};
  code.arguments[0].strides = {4};
  EXPECT_EQ(fault(), "argument 0: a buffer that leaves f32[4] x");
  code.arguments[0].strides = {-1};
  EXPECT_EQ(fault(), "argument 0: a buffer that leaves f32[4] x");
  code.arguments[0].extents = {std::int64_t{1} << 40};
  code.arguments[0].strides = {std::int64_t{1} << 40};
  EXPECT_EQ(fault(), "argument 0: a buffer that leaves f32[4] x");
  code.arguments[0].extents = {0};
  EXPECT_EQ(fault(), "argument 0: a buffer that leaves f32[4] x");
}

TEST_F(TensorCodeTest, WhatIsNotThereIsAFault) {
  code.arguments[0].index = 1;
  EXPECT_EQ(fault(), "argument 0: port or constant 1, which is not there");
  code = test::row_code();
  code.arguments[0].kind = ArgumentKind::kConstant;
  EXPECT_EQ(fault(), "argument 0: port or constant 0, which is not there");
  code.constants = {chain.relu.inputs[0]};
  EXPECT_EQ(fault(), "a constant that is none of the graph's");
  code.constants = {ValueId{}};
  EXPECT_EQ(fault(), "a constant that is none of the graph's");
  code = test::row_code();
  code.pipeline.clear();
  EXPECT_EQ(fault(), "no pipeline");
}

TEST_F(TensorCodeTest, ArgumentsThatDoNotFitTheirParametersAreFaults) {
  code.parameters.emplace_back("y");
  EXPECT_EQ(fault(), "argument 1: inputs and constants have a parameter and come first");
  code.parameters.emplace_back("z");
  EXPECT_EQ(fault(), "3 parameters for 2 arguments");
  code = test::row_code();
  code.arguments.pop_back();
  EXPECT_EQ(fault(), "0 of 1 outputs written");
  code = test::row_code();
  code.arguments[0].strides = {};
  EXPECT_EQ(fault(), "argument 0: 1 extents, 0 strides");
  code = test::row_code();
  code.arguments[1].type = ElementType::kInt32;
  EXPECT_EQ(fault(), "argument 1: i32 for f32[4]");
}

TEST(WriteTensorCode, NamesPortsAndConstantsOnce) {
  testing_support::GraphBuilder builder({2, 3});
  const ValueId x = builder.input("x");
  const ValueId w = builder.weight("w", {2, 3});
  const ValueId y = builder.add("Add", {x, w});
  const Graph graph = builder.take({y});
  const Region region = whole_region(graph, uses_of(graph));
  TensorCode code{.pipeline = "bytes"};
  EXPECT_EQ(add_operand(code, graph, region, x, {2, 3}), "operand0");
  EXPECT_EQ(add_operand(code, graph, region, w, {6}), "operand1");
  EXPECT_EQ(add_operand(code, graph, region, w, {3}), "operand2");
  add_result(code, graph, region, y, {2, 3});
  EXPECT_EQ(code.constants, std::vector<ValueId>{w});
  EXPECT_EQ(code.arguments[0], (TensorArgument{ArgumentKind::kInput, 0, ElementType::kFloat32, {2, 3}, {3, 1}}));
  EXPECT_EQ(code.arguments[2], (TensorArgument{ArgumentKind::kConstant, 0, ElementType::kFloat32, {3}, {1}}));
  EXPECT_EQ(code.arguments[3].kind, ArgumentKind::kOutput);
  EXPECT_EQ(fault_of(code, graph, region), std::nullopt);
}

}  // namespace
}  // namespace collage
