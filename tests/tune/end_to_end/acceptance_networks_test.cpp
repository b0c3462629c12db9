// Any placement of a network gives the reference's numbers: covers chosen under random costs, compiled and checked
// step by step as in a tune, run, and compared with the reference on the whole network. The networks are the five of
// the paper, small: fewer pixels and tokens, of the long ones a part that holds every kind of layer they have.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>

#include "api/tune/gather_inputs.h"
#include "backend/roles.h"
#include "numbers/compare.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "tests/support/session_of.h"
#include "tests/tune/tune_fixture.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/whole_model.h"
#include "tune/price/pricing.h"
#include "tune/proposers.h"
#include "tune/stages.h"
#include "workload/workload.h"

namespace collage {
namespace {

constexpr std::int64_t kLaunchNs = 300;
constexpr std::size_t kMaxStates = 20'000;  ///< any cover will do

/// Never destroyed: at the end of the process an engine's own threads may be gone before the engine.
Registry& registry() {
  static auto* const made = new Registry(test::module_folders());
  return *made;
}

/// The instances of this build that work here.
std::vector<std::string> usable_backends() {
  std::vector<std::string> names;
  for (const char* name : {"onednn", "onnxruntime", "openvino", "host"})
    if (registry().get(name)) names.emplace_back(name);
  return names;
}

/// Places one model at random, again and again. What a backend refuses or computes wrongly is found and left out as in
/// a tune: by the worker that makes the artifacts.
class RandomPlacements {
 public:
  explicit RandomPlacements(const std::string& model) {
    auto prepared =
        prepare({.model = model, .shapes = {}, .backends = usable_backends()}, folder_, registry(), worker_);
    EXPECT_TRUE(prepared) << to_string(prepared.error());
    prepared_ = std::move(*prepared);
    uses_ = uses_of(graph());
    pool_ = propose(graph(), uses_, make_proposers(registry(), usable_backends(), graph(), {}).value());
    PricingOptions options;
    options.measure.worker_command = test::worker_command();
    options.files = {.graph_file = prepared_.graph_file, .record_file = prepared_.record};
    options.converters = {"host"};
    pricing_.emplace(std::move(options), graph(), registry(), store_);
  }

  [[nodiscard]] const Graph& graph() const { return prepared_.graph; }

  /// Of regions of at most so many nodes.
  Result<RealisedPlan> next(std::mt19937_64& random, std::size_t most_nodes) {
    CoverRequest request{
        .graph = &graph(), .pool = &pool_, .costs = draw_costs(random, most_nodes), .backends = usable_backends()};
    request.search.launch_ns = kLaunchNs;
    request.search.max_states = kMaxStates;
    for (;;) {
      COLLAGE_TRY(const SearchResult found, best_cover(pricing_->completed(request), request.backends));
      const std::size_t broken = pricing_->broken_count();
      auto artifacts = pricing_->artifacts(found.cover);
      if (artifacts)
        return assemble({.graph = &graph(), .cover = &found.cover, .artifacts = std::move(*artifacts), .header = {}},
                        registry());
      if (pricing_->broken_count() == broken) return std::unexpected(artifacts.error());
    }
  }

 private:
  /// About so much for each node, so that regions of all sizes win.
  [[nodiscard]] std::vector<Cost> draw_costs(std::mt19937_64& random, std::size_t most_nodes) const {
    std::vector<Cost> costs;
    for (const Candidate& candidate : pool_.candidates) {
      const std::size_t nodes = pool_.regions[candidate.region].covered().count();
      const auto ns = static_cast<std::int64_t>((1000 + random() % 1000) * nodes);
      costs.push_back(nodes > most_nodes ? Cost{Unknown{}} : Estimated{.ns = ns});
    }
    return costs;
  }

  WorkFolder folder_ = WorkFolder::create().value();
  WorkerProcess worker_{test::worker_command()};
  Store store_ = Store::open("memory:").value();
  Prepared prepared_;
  Uses uses_;
  CandidatePool pool_;
  std::optional<Pricing> pricing_;
};

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
