#include "tune/objective.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace collage {
namespace {

using testing_support::GraphBuilder;

Region nodes_of(const Graph& graph, std::size_t begin, std::size_t end) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = begin; n < end; ++n) nodes.insert(n);
  return make_region(graph, uses_of(graph), nodes);
}

/// Two branches of 16-byte values that meet: n0, n1 from x, n2 from n0, n3 = n1 + n2.
Graph diamond() {
  GraphBuilder net({4});
  const ValueId x = net.input("x");
  const ValueId left = net.add("Relu", {x});
  const ValueId right = net.add("Abs", {x});
  return net.take({net.add("Add", {right, net.add("Relu", {left})})});
}

TEST(InnerBytes, ArePeakOfValuesBetweenTheNodes) {
  const Graph graph = diamond();
  EXPECT_EQ(inner_bytes(graph, nodes_of(graph, 0, 1)), 0) << "a single operator holds nothing between";
  EXPECT_EQ(inner_bytes(graph, nodes_of(graph, 0, 4)), 48) << "n0, n1 and n2 while n2 runs";
  EXPECT_EQ(inner_bytes(graph, nodes_of(graph, 2, 4)), 16);
}

TEST(InnerBytes, KnowOfNoValueThatIsLeftOut) {
  const Graph graph = parse_graph(
                          "graph(%x: f32[4], %h: f32[]) -> (%y) { %d: f32[4], _ = Dropout(%x) %y: f32[4] = Clip(%d, _, "
                          "%h) }")
                          .value();
  EXPECT_EQ(inner_bytes(graph, nodes_of(graph, 0, 2)), 16);
}

TEST(StepMemories, CountScratchAsLearntAndEnginesByTheirInside) {
  const Graph graph = diamond();
  const IsEngine is_engine = [](const std::string& backend) { return backend == "engine"; };
  StepMemory memory(is_engine);
  const Region whole = nodes_of(graph, 0, 4);
  const Variant variant{.name = "v", .input_formats = {{}}, .output_formats = {{}}};
  EXPECT_EQ(memory.of(graph, whole, "engine", variant), 48);
  EXPECT_EQ(memory.of(graph, whole, "kernel", variant), 0);

  Cover cover;
  cover.steps.push_back({.backend = "kernel", .work = CoverKernel{whole, variant}});
  memory.learn(cover, {Artifact{.workspace_bytes = 640}});
  EXPECT_EQ(memory.of(graph, whole, "kernel", variant), 640);

  Plan plan;
  plan.arena_bytes = 1000;
  EXPECT_EQ(plan_bytes(graph, cover, plan, is_engine), 1000) << "the arena holds scratch already";
  cover.steps[0].backend = "engine";
  EXPECT_EQ(plan_bytes(graph, cover, plan, is_engine), 1048);
}

TEST(Objective, BytesAreSaidInLargeUnitsRoundedUp) {
  EXPECT_EQ(bytes_text(1000), "1000 bytes");
  EXPECT_EQ(bytes_text(12 * 1024 - 1), "12 KiB (12287 bytes)");
  EXPECT_EQ(bytes_text(3 * 1024 * 1024 + 1), "4 MiB (3145729 bytes)");
}

}  // namespace
}  // namespace collage
