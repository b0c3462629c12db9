#include "tune/price/context.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

/// One node per weight size; node n reads w<n>.
Graph graph_with_weights(const std::vector<std::int64_t>& floats) {
  Graph graph;
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {4});
  ValueId last = add_value(graph, "x", type);
  graph.inputs = {last};
  for (std::size_t n = 0; n < floats.size(); ++n) {
    const std::string suffix = std::to_string(n);
    const ValueId weight = add_constant(
        graph, "w" + suffix,
        make_tensor(ElementType::kFloat32, {floats[n]}, std::vector<float>(static_cast<std::size_t>(floats[n]))));
    const ValueId out = add_value(graph, "v" + suffix, type);
    add_node(graph, {.name = "n" + suffix,
                     .domain = "",
                     .op_type = "Op",
                     .inputs = {last, weight},
                     .outputs = {out},
                     .captures = {},
                     .attributes = {}});
    last = out;
  }
  graph.outputs = {last};
  return graph;
}

CoverStep step_of(const Graph& graph, std::size_t node, const std::string& backend, const std::string& variant,
                  std::int64_t alone_ns) {
  NodeSet nodes(graph.nodes.size());
  nodes.insert(node);
  return {.backend = backend,
          .work = CoverKernel{make_region(graph, uses_of(graph), nodes), {.name = variant}},
          .cost = Measured{.median_ns = alone_ns, .low_ns = alone_ns, .high_ns = alone_ns, .samples = 9}};
}

double factor(const Graph& graph, const Corrections& corrections, const CoverStep& step) {
  return factor_of(corrections, context_classes(graph, *chosen_region(step), step.backend, chosen_variant(step)->name));
}

TEST(Context, StepsOfOneKindAndWeightLearnTogether) {
  const Graph graph = graph_with_weights({16, 16, 1 << 20});
  const Cover cover{
      .steps = {step_of(graph, 0, "a", "v", 100), step_of(graph, 1, "a", "v", 300), step_of(graph, 2, "a", "v", 1000)}};
  const Corrections corrections =
      learn_corrections(graph, {{.cover = &cover, .step_ns = {150, 450, 2500}, .applied = {}}});
  EXPECT_DOUBLE_EQ(factor(graph, corrections, cover.steps[0]), 1.5);
  EXPECT_DOUBLE_EQ(factor(graph, corrections, cover.steps[2]), 2.5);
}

TEST(Context, WhatWasNeverTimedTakesTheNextWiderClass) {
  const Graph graph = graph_with_weights({16, 1 << 20});
  const Cover cover{.steps = {step_of(graph, 0, "a", "v", 100)}};
  const Corrections corrections = learn_corrections(graph, {{.cover = &cover, .step_ns = {130}, .applied = {}}});
  EXPECT_DOUBLE_EQ(factor(graph, corrections, step_of(graph, 0, "a", "other", 1)), 1.3);  // weights alike
  EXPECT_DOUBLE_EQ(factor(graph, corrections, step_of(graph, 1, "a", "v", 1)), 1.3);      // the backend's
  EXPECT_DOUBLE_EQ(factor(graph, corrections, step_of(graph, 0, "b", "v", 1)), 1.0);      // nothing known
}

TEST(Context, CostsThatWereCorrectedBeforeAreTakenBack) {
  const Graph graph = graph_with_weights({16});
  const Cover cover{.steps = {step_of(graph, 0, "a", "v", 200)}};  // 100 alone, corrected by 2
  const Corrections corrections =
      learn_corrections(graph, {{.cover = &cover, .step_ns = {150}, .applied = {{"a", 2.0}}}});
  EXPECT_DOUBLE_EQ(factor(graph, corrections, cover.steps[0]), 1.5);
}

TEST(Context, OneOddStepCannotRunAway) {
  const Graph graph = graph_with_weights({16});
  const Cover cover{.steps = {step_of(graph, 0, "a", "v", 10)}};
  EXPECT_DOUBLE_EQ(
      factor(graph, learn_corrections(graph, {{.cover = &cover, .step_ns = {1000}, .applied = {}}}), cover.steps[0]),
      3.0);
}

}  // namespace
}  // namespace collage
