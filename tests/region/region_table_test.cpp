#include "region/region_table.h"

#include <gtest/gtest.h>

#include "tests/region/rule_fixture.h"

namespace collage::testing_support {
namespace {

TEST(NodeSet, PrintsRunsOfThreeAndMore) {
  const Graph graph = graph_g3();
  EXPECT_EQ(to_string(node_set(graph, {})), "{}");
  EXPECT_EQ(to_string(node_set(graph, {0, 2, 3, 5, 6, 7, 8, 10})), "{0,2,3,5..8,10}");
}

TEST(NodeSet, TheSmallerFirstDifferenceComesFirst) {
  const Graph graph = graph_g3();
  EXPECT_LT(node_set(graph, {3, 4}), node_set(graph, {3, 5}));
  EXPECT_LT(node_set(graph, {3, 4}), node_set(graph, {3}));
  EXPECT_LT(node_set(graph, {0}), node_set(graph, {1, 2, 3}));
}

TEST(RegionTable, KeepsEachRegionOnceAndTellsRepeatsApart) {
  const Subject subject(graph_g1());
  RegionTable table;
  const std::uint32_t first = table.intern(subject.region({0, 1}));
  EXPECT_EQ(table.intern(subject.region({0, 1})), first);
  const std::uint32_t second = table.intern(
      make_region(subject.graph, subject.uses, node_set(subject.graph, {0, 1}), node_set(subject.graph, {0})));
  EXPECT_NE(second, first);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.find(node_set(subject.graph, {0, 1}), node_set(subject.graph, {0})), second);
  EXPECT_EQ(table.find(node_set(subject.graph, {2})), std::nullopt);
  EXPECT_EQ(table[second].covered(), node_set(subject.graph, {1}));
}

TEST(Region, RepeatedNodesGiveNoOutputsAndCountInTheKeyAndTheExtract) {
  GraphBuilder net;
  const ValueId cast = net.add("Cast", {net.input("x")});
  const Subject subject(net.take({net.add("Tanh", {cast}), net.add("Neg", {cast})}));
  const NodeSet nodes = node_set(subject.graph, {0, 1});
  const Region region = make_region(subject.graph, subject.uses, nodes, node_set(subject.graph, {0}));
  EXPECT_EQ(subject.names(region.outputs), "v1");
  EXPECT_EQ(subject.names(make_region(subject.graph, subject.uses, nodes).outputs), "v0,v1");
  EXPECT_EQ(extract(subject.graph, region).outputs.size(), 1U);
  EXPECT_NE(structure_key(subject.graph, region), structure_key(subject.graph, subject.region({0, 1})));
}

TEST(CheckRegion, LooksForFaultsInAFixedOrder) {
  GraphBuilder net;
  const ValueId conv = net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})});
  const ValueId relu = net.add("Relu", {conv});
  const ValueId out = net.add("Sum", {relu, net.add("Tanh", {conv}), conv});
  const Subject subject(net.take({out}));
  // Not convex, two outputs, a tap, three deep, matches that overlap.
  const std::vector<std::size_t> nodes = {0, 1, 2};
  const std::vector<Match> matches = {subject.match("a", {0, 1}), subject.match("b", {1})};
  EXPECT_EQ(subject.verdict(nodes, {.max_outputs = 1, .max_depth = 1, .max_nodes = 2}, matches), "nodes");
  EXPECT_EQ(subject.verdict(nodes, {.max_outputs = 1, .max_depth = 1}, matches), "outputs");
  EXPECT_EQ(subject.verdict(nodes, {.max_depth = 1}, matches), "depth");
  EXPECT_EQ(subject.verdict({0, 3}, {}, matches), "taps");
  EXPECT_EQ(subject.verdict({0, 3}, {.allow_taps = true}, matches), "matches");
  EXPECT_EQ(subject.verdict({0, 3}, {.allow_taps = true}), "convexity");
  EXPECT_EQ(subject.verdict({0, 1, 2, 3}, {.max_outputs = 1, .max_depth = 3, .max_nodes = 4}), "legal");
}

TEST(CheckRegion, OperatorsWithBodiesNeedPermission) {
  const auto graph = parse_graph(R"(graph g(%x: f32[2], %c: bool[]) -> (%s) {
    opset ai.onnx 26
    %y: f32[2] = Relu(%x) "relu"
    %s: f32[2] = If(%c) captures(%y) {then_branch=graph(
      ) -> (%y) { capture %y }} "if"
  })");
  ASSERT_TRUE(graph) << to_string(graph.error());
  const Subject subject(*graph);
  EXPECT_EQ(subject.verdict({0, 1}, {}), "legal");
  EXPECT_EQ(subject.verdict({0, 1}, {.allow_bodies = false}), "body");
  EXPECT_EQ(subject.verdict({0}, {.allow_bodies = false}), "legal");
}

TEST(FusionClass, IsTheGreatestOfTheNodes) {
  const Graph graph = graph_g3();
  EXPECT_EQ(fusion_class_of(graph, node_set(graph, {})), FusionClass::kElementwise);
  EXPECT_EQ(fusion_class_of(graph, node_set(graph, {7})), FusionClass::kElementwise);
  EXPECT_EQ(fusion_class_of(graph, node_set(graph, {6, 7})), FusionClass::kBroadcast);
  EXPECT_EQ(fusion_class_of(graph, node_set(graph, {1, 2})), FusionClass::kInjective);
  EXPECT_EQ(fusion_class_of(graph, node_set(graph, {0, 1})), FusionClass::kAnchor);
  EXPECT_EQ(fusion_class_of(Node{.op_type = "NobodyKnows"}), FusionClass::kOpaque);
  EXPECT_EQ(fusion_class_of(Node{.domain = "vendor", .op_type = "Relu"}), FusionClass::kOpaque);
}

}  // namespace
}  // namespace collage::testing_support
