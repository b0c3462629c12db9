// Any placement of a network gives the reference's numbers: covers chosen under random costs, compiled and checked
// step by step as in a tune, run, and compared with the reference on the whole network. The networks are the five of
// the paper, small: fewer pixels and tokens, of the long ones a part that holds every kind of layer they have.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "api/tune/gather_inputs.h"
#include "backend/roles.h"
#include "numbers/compare.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "tests/support/session_of.h"
#include "tests/tune/end_to_end/random_placements.h"
#include "tune/confirm/whole_model.h"
#include "workload/workload.h"

namespace collage {
namespace {

using test::RandomPlacements;
using test::registry;
using test::usable_backends;

/// Random placements of a graph against the reference, of single nodes, short regions and any; several backends take
/// part.
void expect_reference_numbers(const Graph& graph) {
  ASSERT_TRUE(verify(graph)) << to_string(verify(graph).error());
  const auto engine = registry().get(kReferenceEngine);
  if (!engine || usable_backends().size() < 3) GTEST_SKIP() << "needs the reference and two backends to mix";
  auto reference = WholeModel::create(**engine, graph, std::nullopt, {});
  ASSERT_TRUE(reference) << to_string(reference.error());
  const std::vector<Tensor> inputs = gather_inputs(graph, {.files = {}, .ranges = {}, .seed = 5}).value();
  ASSERT_TRUE(reference->set_inputs(inputs));
  ASSERT_TRUE(reference->run());
  const std::vector<Tensor> expected = reference->outputs().value();

  const test::Scratch scratch;
  test::write_model(graph, scratch.file("model.onnx"));
  RandomPlacements placements(scratch.file("model.onnx"));
  std::set<std::string> backends;
  for (const std::size_t most_nodes : {std::size_t{1}, std::size_t{4}, graph.nodes.size()}) {
    SCOPED_TRACE("seed " + std::to_string(most_nodes));
    std::mt19937_64 random(most_nodes);
    auto plan = placements.next(random, most_nodes);
    ASSERT_TRUE(plan) << to_string(plan.error());
    for (const PlanStep& step : plan->plan.steps) backends.insert(step.backend);
    auto session = test::session_of(std::move(*plan), registry());
    ASSERT_TRUE(session) << to_string(session.error());
    ASSERT_TRUE(session->set_inputs(inputs));
    ASSERT_TRUE(session->run());
    const std::vector<Tensor> seen = session->copy_outputs().value();
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t o = 0; o < seen.size(); ++o) {
      const Comparison comparison = compare(seen[o], expected[o], Accuracy::kStandard, false);
      EXPECT_TRUE(comparison.ok) << "output " << o << ": " << to_string(comparison);
    }
  }
  EXPECT_GE(backends.size(), 3U) << ::testing::PrintToString(backends);
}

/// Nodes [begin, end) as a graph of their own.
Graph part_of(const Graph& graph, std::size_t begin, std::size_t end) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = begin; n < end; ++n) nodes.insert(n);
  return extract(graph, make_region(graph, uses_of(graph), nodes));
}

/// The graph with every input's last two extents set to `extent` (0: as they are), at the versions of operators and
/// with the shapes that import gives it.
Graph imported(Graph graph, std::int64_t extent = 0) {
  const std::set<ValueId> inputs(graph.inputs.begin(), graph.inputs.end());
  for (std::uint32_t v = 0; v < graph.values.size(); ++v) {
    ValueType& type = graph.values[v].type;
    if (graph.values[v].constant) continue;
    if (!inputs.contains(ValueId{v})) {
      type.shape = std::nullopt;
    } else if (extent > 0) {
      for (std::size_t axis = type.shape->size() - 2; axis < type.shape->size(); ++axis)
        (*type.shape)[axis] = {extent, ""};
    }
  }
  auto made = import_model(export_graph(graph, {.external = {}, .node_metadata = {}}), "", {});
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? std::move(made->graph) : Graph{};
}

void replace_constant(Graph& graph, ValueId id, Tensor tensor) {
  graph.value(id).type = tensor.value_type();
  graph.value(id).constant = std::move(tensor);
}

/// Generator and discriminator of DCGAN from 4x4 to 16x16 and back, in place of 64x64 and 256x256.
Graph small_dcgan() {
  Graph graph = make_workload("dcgan").value();
  std::vector<std::size_t> dense;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].op_type == "Gemm") dense.push_back(n);
  EXPECT_EQ(dense.size(), 2U);
  const Node& first = graph.nodes[dense.front()];
  replace_constant(graph, first.inputs[1], test::numbers({128 * 4 * 4, 100}, 0.1F));
  replace_constant(graph, first.inputs[2], test::numbers({128 * 4 * 4}, 0.1F));
  EXPECT_EQ(graph.nodes[1].op_type, "Reshape");
  replace_constant(graph, graph.nodes[1].inputs[1],
                   make_tensor<std::int64_t>(ElementType::kInt64, {4}, {1, 128, 4, 4}));
  replace_constant(graph, graph.nodes[dense.back()].inputs[1], test::numbers({1, 128}, 0.1F));
  return imported(std::move(graph));
}

/// The last cell before the first reduction, and that reduction.
Graph two_nasnet_cells() {
  const Graph graph = make_workload("nasneta").value();
  std::vector<std::size_t> ends;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].op_type == "Concat") ends.push_back(n + 1);
  return imported(part_of(graph, ends.at(3), ends.at(5)), 8);
}

/// The first stage and the first block of the second, which halves the image.
Graph four_bottlenecks(const std::string& network, std::int64_t extent) {
  return imported(part_of(make_workload(network).value(), 0, 30), extent);
}

TEST(Acceptance, AnyPlacementOfBertGivesTheReferencesNumbers) {
  expect_reference_numbers(imported(make_workload("bert_full", {.seq = 8, .layers = 1}).value()));
}

TEST(Acceptance, AnyPlacementOfDcganGivesTheReferencesNumbers) { expect_reference_numbers(small_dcgan()); }

TEST(Acceptance, AnyPlacementOfNasnetGivesTheReferencesNumbers) { expect_reference_numbers(two_nasnet_cells()); }

TEST(Acceptance, AnyPlacementOfResnet3dGivesTheReferencesNumbers) {
  expect_reference_numbers(four_bottlenecks("resnet50_3d", 8));
}

TEST(Acceptance, AnyPlacementOfResnextGivesTheReferencesNumbers) {
  expect_reference_numbers(four_bottlenecks("resnext50_32x4d", 8));
}

}  // namespace
}  // namespace collage
