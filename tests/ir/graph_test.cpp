#include "ir/graph.h"

#include <gtest/gtest.h>

#include "tests/ir/parsed_graph.h"

namespace collage {
namespace {

ValueId find(const Graph& graph, std::string_view name) {
  for (std::uint32_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].name == name) return ValueId{v};
  return {};
}

TEST(Graph, GivesFreshNamesThatAreNotTaken) {
  Graph graph;
  add_value(graph, "v1", {});
  const ValueId fresh = add_value(graph, "", {});
  EXPECT_EQ(graph.value(fresh).name, "v1_1");
  add_node(graph, Node{.name = "Relu_1", .op_type = "Relu"});
  const NodeId node = add_node(graph, Node{.op_type = "Relu"});
  EXPECT_EQ(graph.node(node).name, "Relu_1_1");
  EXPECT_EQ(graph.node(add_node(graph, Node{.op_type = "Relu"})).name, "Relu_2");
}

TEST(Graph, SortsAttributesOfANewNode) {
  Graph graph;
  const NodeId id =
      add_node(graph, Node{.op_type = "Conv", .attributes = {{"pads", std::int64_t{1}}, {"group", std::int64_t{2}}}});
  EXPECT_EQ(graph.node(id).attributes[0].name, "group");
  EXPECT_EQ(attribute_or<std::int64_t>(graph.node(id), "group", 7), 2);
  EXPECT_EQ(attribute_or<std::int64_t>(graph.node(id), "strides", 7), 7);
  EXPECT_EQ(find_attribute<float>(graph.node(id), "group"), nullptr);
}

TEST(Graph, ConstantsGetTheirTensorsType) {
  Graph graph;
  const ValueId id = add_constant(graph, "c", make_tensor<float>(ElementType::kFloat32, {2}, {1, 2}));
  EXPECT_EQ(to_string(graph.value(id).type), "f32[2]");
  EXPECT_NE(constant_of(graph, id), nullptr);
  EXPECT_EQ(constant_of(graph, ValueId{}), nullptr);
}

TEST(Graph, CopiesShareConstantsAndCompareEqual) {
  Graph graph;
  const ValueId id = add_constant(graph, "c", make_tensor<float>(ElementType::kFloat32, {2}, {1, 2}));
  const Graph copy = graph;
  EXPECT_EQ(copy, graph);
  EXPECT_EQ(copy.value(id).constant->data.data(), graph.value(id).constant->data.data());
}

TEST(Graph, BodiesCompareByContents) {
  const Graph inner = parsed("graph b(%x) -> (%x) {}");
  const Body one{std::make_shared<const Graph>(inner)};
  EXPECT_EQ(one, Body{std::make_shared<const Graph>(inner)});
  EXPECT_NE(one, Body{});
  EXPECT_EQ(Body{}, Body{});
  EXPECT_NE(one, Body{std::make_shared<const Graph>(parsed("graph c(%x) -> (%x) {}"))});
}

TEST(Uses, KnowsProducersReadersAndOutputs) {
  const Graph graph = parsed(R"(graph g(%x) -> (%b, %b) {
    constant %c = i64[1]{1}
    %a = Mul(%x, %x) "mul"
    %b, _ = Two(%a, _, %c) "two"
    %d = Neg(%a) "neg"
  })");
  const Uses uses = uses_of(graph);
  const auto x = find(graph, "x").index;
  const auto a = find(graph, "a").index;
  const auto b = find(graph, "b").index;
  EXPECT_EQ(uses.consumers[x], (std::vector<NodeId>{NodeId{0}}));
  EXPECT_EQ(uses.consumers[a], (std::vector<NodeId>{NodeId{1}, NodeId{2}}));
  EXPECT_EQ(uses.producer[a], NodeId{0});
  EXPECT_FALSE(uses.producer[x].valid());
  EXPECT_FALSE(uses.producer[find(graph, "c").index].valid());
  EXPECT_TRUE(uses.is_output[b]);
  EXPECT_FALSE(uses.is_output[a]);
}

TEST(Uses, CountsCapturesOnceWithInputs) {
  const Graph graph = parsed(R"(graph g(%x, %c) -> (%y) {
    %y = If(%c) captures(%x, %c) {then_branch=graph(
      ) -> (%x) { capture %x capture %c }} "if"
  })");
  const Uses uses = uses_of(graph);
  EXPECT_EQ(uses.consumers[0], (std::vector<NodeId>{NodeId{0}}));
  EXPECT_EQ(uses.consumers[1], (std::vector<NodeId>{NodeId{0}}));
}

TEST(Bodies, ListsSinglesAndLists) {
  const Graph graph = parsed("graph(%c) -> () { () = If(%c) {a=graph one() -> () {}, b=[graph two() -> () {}]} }");
  const auto bodies = bodies_of(graph.nodes[0]);
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_EQ(bodies[0]->name, "one");
  EXPECT_EQ(bodies[1]->name, "two");
}

}  // namespace
}  // namespace collage
