#include <gtest/gtest.h>

#include "search/search.h"

namespace collage {
namespace {

/// One step for each node of a graph; bodies of control-flow nodes alike.
Cover cover_of(const Graph& graph) {
  Cover cover;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Region region;
    region.nodes = NodeSet(graph.nodes.size());
    region.nodes.insert(n);
    std::vector<Cover> bodies;
    for (const Graph* body : bodies_of(graph.nodes[n])) bodies.push_back(cover_of(*body));
    if (bodies.empty())
      cover.steps.push_back({.backend = "a", .work = CoverKernel{region, {.name = "fast"}}});
    else
      cover.steps.push_back({.backend = std::string(kControlBackend),
                             .work = CoverControl{region, {.name = "placed"}, std::move(bodies)}});
  }
  return cover;
}

TEST(CoverText, ShowsTheStepsOfBodiesInside) {
  const auto graph = parse_graph(R"(graph g(%c: bool[], %x: f32[4]) -> (%z) {
  opset ai.onnx 26
  %y: f32[4] = If(%c) captures(%x) {else_branch=graph no() -> (%r) {
      capture %x: f32[4]
      %q: f32[4] = Neg(%x) "Neg_0"
      %r: f32[4] = Abs(%q) "Abs_1"
    }, then_branch=graph yes() -> (%r) {
      capture %x: f32[4]
      %r: f32[4] = Exp(%x) "Exp_0"
    }} "If_0"
  %z: f32[4] = Neg(%y) "Neg_1"
}
)");
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(to_text(*graph, cover_of(*graph)), R"(control bodies/placed: If_0
  body no
    kernel a/fast: Neg_0
    kernel a/fast: Abs_1
  body yes
    kernel a/fast: Exp_0
kernel a/fast: Neg_1
cost 0 ns
)");
  EXPECT_EQ(step_count(cover_of(*graph)), 5U);
}

}  // namespace
}  // namespace collage
