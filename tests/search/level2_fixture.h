// Level-2 problems with made-up costs and a fake end-to-end clock: libraries with a price per node that adds up,
// engines whose regions do not.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "region/variant.h"
#include "search/evolve.h"

namespace collage::testing_support {

class Level2World {
 public:
  using Edge = std::pair<std::size_t, std::size_t>;
  /// Nanoseconds of one region of an engine.
  using RegionClock = std::function<std::int64_t(const NodeSet&)>;

  /// Nodes n0.. with one output each, read as in search_fixture.h.
  Level2World(std::size_t nodes, const std::vector<Edge>& edges) {
    const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 4, 2, 2});
    const ValueId input = add_value(graph_, "input", type);
    graph_.inputs.push_back(input);
    std::vector<ValueId> made;
    for (std::size_t n = 0; n < nodes; ++n) made.push_back(add_value(graph_, "v" + std::to_string(n), type));
    for (std::size_t n = 0; n < nodes; ++n) {
      Node node;
      node.name = "n" + std::to_string(n);
      node.op_type = "Sum";
      bool is_read = false;
      for (const auto& [from, to] : edges) {
        if (to == n) node.inputs.push_back(made[from]);
        is_read = is_read || from == n;
      }
      if (node.inputs.empty()) node.inputs.push_back(input);
      node.outputs.push_back(made[n]);
      add_node(graph_, node);
      if (!is_read) graph_.outputs.push_back(made[n]);
    }
    uses_ = uses_of(graph_);
  }

  static Level2World chain(std::size_t nodes) {
    std::vector<Edge> edges;
    for (std::size_t n = 1; n < nodes; ++n) edges.emplace_back(n - 1, n);
    return {nodes, edges};
  }

  /// Blocks of conv, relu, conv, add, relu; the add reads what the block reads.
  static Level2World residual(std::size_t blocks) {
    std::vector<Edge> edges;
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t first = 5 * b;
      for (std::size_t n = first; n < first + 5; ++n)
        if (n > 0) edges.emplace_back(n - 1, n);
      if (b > 0) edges.emplace_back(first - 1, first + 3);
    }
    return {5 * blocks, edges};
  }

  void library(const std::string& backend, std::size_t node, std::int64_t ns) { add(backend, {node}, ns, "fast"); }
  void library(const std::string& backend, std::int64_t ns) {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) library(backend, n, ns);
  }
  /// Level 1 sees the engine's single nodes only.
  void engine(const std::string& name, RegionClock clock) {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!refused_.contains({name, n})) add(name, {n}, clock(set_of({n})), "default");
    engines_[name] = std::move(clock);
  }
  /// To be said before the engine is added.
  void refuse(const std::string& engine, std::size_t node) { refused_.emplace(engine, node); }
  void add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns,
           const std::string& variant) {
    const Region& region = regions_.emplace_back(make_region(graph_, uses_, set_of(nodes)));
    candidates_.push_back({.region = &region,
                           .backend = backend,
                           .variant = plain_variant(region, variant),
                           .cost = Measured{ns, ns, ns, 1}});
    backends_.insert(backend);
  }

  [[nodiscard]] Level2Problem problem() const {
    Level2Problem problem;
    problem.graph = &graph_;
    problem.uses = &uses_;
    problem.candidates = candidates_;
    problem.conversions = [](ValueId, const Place&, const Place&) { return std::optional<BoundaryChoice>(); };
    problem.search = {.launch_ns = launch_ns};
    for (const auto& [name, clock] : engines_) problem.engines.push_back(name);
    problem.backends.assign(backends_.begin(), backends_.end());
    problem.take = [this](const std::string& engine, const Region& region) -> std::expected<Variant, Refusal> {
      ++asked;
      for (const std::size_t n : region.nodes.members())
        if (refused_.contains({engine, n}))
          return std::unexpected(Refusal{RefusalReason::kOperator, graph_.nodes[n].name});
      return plain_variant(region, "default");
    };
    return problem;
  }

  /// What a cover takes end to end: engines' regions by their clock, other steps as level 1 knows them.
  [[nodiscard]] Evaluation run(const Cover& cover) const {
    Evaluation evaluation;
    for (const CoverStep& step : cover.steps) {
      const auto engine = engines_.find(step.backend);
      const std::int64_t ns =
          engine != engines_.end() ? engine->second(chosen_region(step)->nodes) : *nanoseconds_of(step.cost);
      evaluation.step_ns.push_back(ns);
      evaluation.ns += ns + launch_ns;
    }
    return evaluation;
  }

  /// The same as an evaluator that counts and checks that no cover comes twice.
  [[nodiscard]] CoverEvaluator clock() {
    return [this](const Cover& cover) -> Result<Evaluation> {
      Cover steps = cover;
      steps.cost_ns = 0;
      covers.push_back(to_text(graph_, steps));
      return run(cover);
    };
  }

  [[nodiscard]] Cover cover_of(const Genome& genome) const { return GenomeDecoder(problem()).cover_of(genome).value(); }
  [[nodiscard]] Cover level1() const { return cover_of(genome_of_one(size(), {})); }

  /// The least time over all ways to cut the nodes, in order, into single library nodes and ranges of engines.
  [[nodiscard]] std::int64_t best_by_ranges() const {
    std::vector<std::int64_t> best(size() + 1, 0);
    for (std::size_t end = 1; end <= size(); ++end) {
      best[end] = std::numeric_limits<std::int64_t>::max();
      for (const SearchCandidate& candidate : candidates_)
        if (candidate.region->nodes == set_of({end - 1}))
          best[end] = std::min(best[end], best[end - 1] + *nanoseconds_of(candidate.cost) + launch_ns);
      for (const auto& [name, clock] : engines_)
        for (std::size_t begin = end; begin-- > 0 && !refused_.contains({name, begin});) {
          NodeSet nodes(size());
          for (std::size_t n = begin; n < end; ++n) nodes.insert(n);
          best[end] = std::min(best[end], best[begin] + clock(nodes) + launch_ns);
        }
    }
    return best.back();
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Uses& uses() const { return uses_; }
  [[nodiscard]] std::size_t size() const { return graph_.nodes.size(); }
  [[nodiscard]] NodeSet set_of(const std::vector<std::size_t>& nodes) const {
    NodeSet set(graph_.nodes.size());
    for (const std::size_t n : nodes) set.insert(n);
    return set;
  }

  std::int64_t launch_ns = 10;
  std::vector<std::string> covers;  ///< texts of those that clock() saw
  mutable std::size_t asked = 0;    ///< how often an engine was

 private:
  static Variant plain_variant(const Region& region, const std::string& name) {
    return {.name = name,
            .input_formats = std::vector<Format>(region.inputs.size()),
            .output_formats = std::vector<Format>(region.outputs.size())};
  }

  Graph graph_;
  Uses uses_;
  std::deque<Region> regions_;
  std::vector<SearchCandidate> candidates_;
  std::set<std::string> backends_;
  std::map<std::string, RegionClock> engines_;
  std::set<std::pair<std::string, std::size_t>> refused_;
};

/// "library library G[3]": who runs the steps, with the size of regions of several nodes.
inline std::string who(const Cover& cover) {
  std::string text;
  for (const CoverStep& step : cover.steps) {
    const Region* const region = chosen_region(step);
    if (region == nullptr) continue;
    text += (text.empty() ? "" : " ") + step.backend;
    if (region->nodes.count() > 1) text += "[" + std::to_string(region->nodes.count()) + "]";
  }
  return text;
}

}  // namespace collage::testing_support
