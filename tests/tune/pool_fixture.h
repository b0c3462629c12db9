// Small placement problems as pools with made-up costs, for tests of what is told about covers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "search/search.h"
#include "tests/support/dice.h"
#include "tune/explain/explanation.h"

namespace collage::test {

struct PoolProblem {
  Graph graph;
  Uses uses;
  CandidatePool pool;
  std::vector<Cost> costs;
  std::int64_t conversion_ns = 3;
  std::int64_t launch_ns = 0;

  /// Nodes n0, n1 ... with one output each; those without predecessors read the graph's input, those without readers
  /// are its outputs.
  PoolProblem(std::size_t nodes, const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
    graph.opsets = {{"", 26}};
    const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 4, 2, 2});
    graph.inputs = {add_value(graph, "input", type)};
    std::vector<ValueId> made;
    for (std::size_t n = 0; n < nodes; ++n) made.push_back(add_value(graph, "v" + std::to_string(n), type));
    for (std::size_t n = 0; n < nodes; ++n) {
      Node node;
      node.name = "n" + std::to_string(n);
      node.op_type = "Sum";
      for (const auto& [from, to] : edges)
        if (to == n) node.inputs.push_back(made[from]);
      if (node.inputs.empty()) node.inputs.push_back(graph.inputs[0]);
      node.outputs.push_back(made[n]);
      add_node(graph, node);
      if (std::ranges::none_of(edges, [n](const auto& edge) { return edge.first == n; }))
        graph.outputs.push_back(made[n]);
    }
    uses = uses_of(graph);
  }

  static PoolProblem chain(std::size_t nodes) {
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    for (std::size_t n = 1; n < nodes; ++n) edges.emplace_back(n - 1, n);
    return {nodes, edges};
  }

  static PoolProblem random(std::uint64_t seed) {
    Dice dice(seed);
    const std::size_t nodes = 2 + dice.below(6);
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    for (std::size_t to = 1; to < nodes; ++to)
      for (std::size_t from = 0; from < to; ++from)
        if (dice.one_in(3)) edges.emplace_back(from, to);
    PoolProblem problem(nodes, edges);
    problem.conversion_ns = static_cast<std::int64_t>(dice.below(8));
    problem.launch_ns = static_cast<std::int64_t>(dice.below(3));
    for (std::size_t n = 0; n < nodes; ++n) {
      problem.add("a", {n}, 5 + static_cast<std::int64_t>(dice.below(20)));
      problem.add("b", {n}, 5 + static_cast<std::int64_t>(dice.below(20)), "channels_last");
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      std::vector<std::size_t> set;
      for (std::size_t n = dice.below(nodes); n < nodes && set.size() < 4; ++n)
        if (dice.one_in(2)) set.push_back(n);
      if (set.empty()) continue;
      const bool repeats = set.size() > 1 && dice.one_in(3);
      problem.add("c", set, 1 + static_cast<std::int64_t>(dice.below(12 * set.size())),
                  dice.one_in(2) ? "plain" : "channels_last", "v",
                  repeats ? std::vector<std::size_t>{set[dice.below(set.size())]} : std::vector<std::size_t>());
    }
    return problem;
  }

  std::uint32_t region(const std::vector<std::size_t>& nodes, const std::vector<std::size_t>& repeated = {}) {
    const NodeSet set = node_set(graph, nodes);
    const Region made =
        repeated.empty() ? make_region(graph, uses, set) : make_region(graph, uses, set, node_set(graph, repeated));
    for (std::uint32_t r = 0; r < pool.regions.size(); ++r)
      if (pool.regions[r] == made) return r;
    pool.regions.push_back(made);
    return static_cast<std::uint32_t>(pool.regions.size() - 1);
  }

  /// A candidate with one format at all ports, computing `repeated` for itself only; nothing is added for a set that
  /// cannot be one step, or twice.
  void add(const std::string& backend, const std::vector<std::size_t>& nodes, const Cost& cost,
           const std::string& format = "plain", const std::string& variant = "v",
           const std::vector<std::size_t>& repeated = {}) {
    const std::uint32_t r = region(nodes, repeated);
    const std::string name = format == "plain" ? variant : variant + "." + format;
    if (!Reachability(graph, uses).is_convex(pool.regions[r].nodes)) return;
    if (std::ranges::any_of(pool.candidates, [&](const Candidate& made) {
          return made.region == r && made.backend == backend && made.variant.name == name;
        }))
      return;
    pool.candidates.push_back(
        {.region = r,
         .backend = backend,
         .variant = {.name = name,
                     .input_formats = std::vector<Format>(pool.regions[r].inputs.size(), Format{format}),
                     .output_formats = std::vector<Format>(pool.regions[r].outputs.size(), Format{format})}});
    costs.push_back(cost);
  }
  void add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns,
           const std::string& format = "plain", const std::string& variant = "v",
           const std::vector<std::size_t>& repeated = {}) {
    add(backend, nodes, Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1}, format, variant,
        repeated);
  }

  void refuse(const std::string& backend, const std::vector<std::size_t>& nodes, RefusalReason reason,
              const std::string& detail) {
    pool.refusals.push_back({.region = region(nodes), .backend = backend, .refusal = {reason, detail}});
  }

  [[nodiscard]] BoundaryTable conversions() const {
    return [this](ValueId, const Place&, const Place&) {
      return std::optional<BoundaryChoice>(
          {"host", Measured{.median_ns = conversion_ns, .low_ns = conversion_ns, .high_ns = conversion_ns}});
    };
  }

  /// The best cover that uses `forced`, or any.
  [[nodiscard]] Result<SearchResult> best(std::optional<std::uint32_t> forced = {}) const {
    std::vector<SearchCandidate> usable;
    for (std::uint32_t c = 0; c < pool.candidates.size(); ++c) {
      const Region& nodes = pool.regions[pool.candidates[c].region];
      const bool in_the_way =
          forced && c != *forced && nodes.covered().intersects(pool.regions[pool.candidates[*forced].region].covered());
      if (in_the_way || !nanoseconds_of(costs[c])) continue;
      usable.push_back({.region = &nodes,
                        .backend = pool.candidates[c].backend,
                        .variant = pool.candidates[c].variant,
                        .cost = costs[c]});
    }
    return choose_cover(graph, uses, usable, conversions(), {.max_states = 100000, .launch_ns = launch_ns});
  }

  /// About this cover as the only plan, timed at `median_ns`.
  [[nodiscard]] ExplainInputs inputs(const Cover& cover, std::int64_t median_ns = 0) const {
    ExplainInputs made;
    made.graph = &graph;
    made.pool = &pool;
    made.costs = costs;
    made.conversions = conversions();
    made.launch_ns = launch_ns;
    made.plans = {{.name = "cover", .cover = &cover, .median_ns = median_ns}};
    made.backends = {"a", "b", "c"};
    return made;
  }
};

}  // namespace collage::test
