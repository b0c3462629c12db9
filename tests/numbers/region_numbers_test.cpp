#include "numbers/region_numbers.h"

#include "numbers/magnitude_twin.h"
#include "tests/measure/measure_fixture.h"
#include "tests/support/small_networks.h"

namespace collage {
namespace {

using testing_support::NetworkBuilder;
using testing_support::small_network;

RegionNumbers study_of(const Graph& graph) {
  const Uses uses = uses_of(graph);
  return study(graph, uses, whole_region(graph, uses));
}

TEST(RegionNumbers, SumsAndClipsTakeEverySet) {
  for (const char* name :
       {"conv", "conv relu6", "gemm", "max pool", "add", "relu6", "residual", "batch norm", "hard swish"}) {
    const RegionNumbers numbers = study_of(small_network(name, 0, 1));
    EXPECT_TRUE(numbers.may_seed && numbers.may_stress && numbers.may_size && numbers.may_tie) << name;
  }
}

TEST(RegionNumbers, FunctionsWithSteepPlacesStayInTheRecordedDomain) {
  const RegionNumbers numbers = study_of(small_network("exp", 0, 1));
  EXPECT_TRUE(numbers.may_seed);
  EXPECT_FALSE(numbers.may_stress);
}

TEST(RegionNumbers, NormsTakeLargeInputsOfTheirOwnOnly) {
  EXPECT_TRUE(study_of(small_network("softmax", 0, 1)).may_stress);
  EXPECT_TRUE(study_of(small_network("softmax", 0, 1)).may_tie);
  EXPECT_FALSE(study_of(small_network("layer norm", 0, 1)).may_tie);
  NetworkBuilder net(1);
  const Extents extents = {2, 4};
  const ValueId x = net.input("x", extents);
  const ValueId product = net.add("MatMul", {x, net.weight({4, 4})}, extents);
  const RegionNumbers numbers = study_of(net.take({net.add("Softmax", {product}, extents)}));
  EXPECT_TRUE(numbers.may_seed);
  EXPECT_FALSE(numbers.may_stress);
}

TEST(RegionNumbers, WhatJumpsMustReadExactValues) {
  const auto rounded = [](bool computed) {
    NetworkBuilder net(1);
    const Extents extents = {2, 4};
    ValueId x = net.input("x", extents);
    if (computed) x = net.add("MatMul", {x, net.weight({4, 4})}, extents);
    return study_of(net.take({net.add("Round", {net.add("Relu", {x}, extents)}, extents)}));
  };
  EXPECT_TRUE(rounded(false).may_seed);
  EXPECT_FALSE(rounded(true).may_seed);
}

TEST(RegionNumbers, ComputedIndicesMayOnlyLeave) {
  const auto chosen = [](bool read) {
    NetworkBuilder net(1);
    const ValueId x = net.add("MatMul", {net.input("x", {2, 4}), net.weight({4, 4})}, {2, 4});
    ValueId out = net.add("ArgMax", {x}, {2, 1}, {{"axis", std::int64_t{1}}}, ElementType::kInt64);
    if (read) out = net.add("Gather", {net.weight({4, 3}), out}, {2, 1, 3});
    return study_of(net.take({out})).may_seed;
  };
  EXPECT_TRUE(chosen(false));
  EXPECT_FALSE(chosen(true));
}

TEST(RegionNumbers, SumsOfSumsOfSumsHaveNoUsefulBound) {
  NetworkBuilder net(1);
  const Extents extents = {2, 4};
  ValueId x = net.input("x", extents);
  for (int i = 0; i < 3; ++i) x = net.add("MatMul", {x, net.weight({4, 4})}, extents);
  const RegionNumbers numbers = study_of(net.take({x}));
  EXPECT_TRUE(numbers.may_stress);
  EXPECT_FALSE(numbers.may_size);
}

TEST(RegionNumbers, WhatDecidesAShapeStaysAsRecorded) {
  NetworkBuilder net(1);
  const ValueId x = net.input("x", {2, 4});
  const ValueId target = net.input("target", {2}, ElementType::kInt64);
  const ValueId index = net.input("index", {3}, ElementType::kInt64);
  const ValueId moved = net.add("Identity", {target}, {2}, {}, ElementType::kInt64);
  const ValueId shaped = net.add("Reshape", {x, moved}, {4, 2});
  const RegionNumbers numbers = study_of(net.take({net.add("Gather", {shaped, index}, {3, 2})}));
  EXPECT_TRUE(numbers.may_seed);
  // Inputs come by first use: target, x, index.
  EXPECT_EQ(numbers.kept, (std::vector<bool>{true, false, false}));
}

std::vector<double> constant_at(const Graph& graph, std::size_t node, std::size_t port) {
  return *floats_of(*constant_of(graph, graph.nodes[node].inputs[port]));
}

TEST(MagnitudeTwin, TakesMagnitudesThroughEveryOperator) {
  const Graph twin = magnitude_twin(small_network("sub", 0, 1));
  EXPECT_EQ(twin.nodes[0].op_type, "Add");
  const Graph conv = magnitude_twin(small_network("conv relu", 0, 1));
  EXPECT_EQ(conv.nodes[0].op_type, "Conv");
  EXPECT_EQ(conv.nodes[1].op_type, "Identity");
  for (std::size_t port = 1; port < 3; ++port)
    for (const double weight : constant_at(conv, 0, port)) EXPECT_GE(weight, 0);
  const Graph norm = magnitude_twin(small_network("batch norm", 0, 1));
  for (const double mean : constant_at(norm, 0, 3)) EXPECT_LE(mean, 0);
  for (const char* name : {"sub", "conv relu", "batch norm", "gemm", "relu6", "sigmoid", "prelu"})
    EXPECT_TRUE(verify(magnitude_twin(small_network(name, 1, 1)))) << name;
}

}  // namespace
}  // namespace collage
