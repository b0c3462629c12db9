// Small placement problems with made-up costs, a brute-force answer and a checker for covers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/search.h"

namespace collage::testing_support {

class Problem {
 public:
  using Edge = std::pair<std::size_t, std::size_t>;

  SearchOptions options{.launch_ns = 0};
  std::int64_t conversion_ns = 3;

  /// Nodes n0.. with one output each; nodes without predecessors read the graph input, those without readers are
  /// graph outputs.
  Problem(std::size_t nodes, const std::vector<Edge>& edges) {
    const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 4, 2, 2});
    const ValueId input = add_value(graph_, "input", type);
    graph_.inputs.push_back(input);
    std::vector<ValueId> made;
    for (std::size_t n = 0; n < nodes; ++n) made.push_back(add_value(graph_, "v" + std::to_string(n), type));
    for (std::size_t n = 0; n < nodes; ++n) {
      Node node;
      node.name = "n" + std::to_string(n);
      node.op_type = "Sum";
      for (const Edge& edge : edges)
        if (edge.second == n) node.inputs.push_back(made[edge.first]);
      if (node.inputs.empty()) node.inputs.push_back(input);
      node.outputs.push_back(made[n]);
      add_node(graph_, node);
      const bool read = std::any_of(edges.begin(), edges.end(), [n](const Edge& edge) { return edge.first == n; });
      if (!read) graph_.outputs.push_back(made[n]);
    }
    uses_ = uses_of(graph_);
  }

  static Problem random(std::mt19937_64& random, std::size_t nodes) {
    std::vector<Edge> edges;
    for (std::size_t to = 1; to < nodes; ++to)
      for (std::size_t from = to > 4 ? to - 4 : 0; from < to; ++from)
        if (random() % 3 == 0) edges.emplace_back(from, to);
    Problem problem(nodes, edges);
    for (std::size_t n = 0; n < nodes; ++n) {
      problem.add("a", {n}, 5 + static_cast<std::int64_t>(random() % 20));
      problem.add("b", {n}, 5 + static_cast<std::int64_t>(random() % 20), "channels_last");
    }
    for (std::size_t i = 0; i < nodes; ++i) problem.add_random(random);
    problem.conversion_ns = static_cast<std::int64_t>(random() % 8);
    problem.options.launch_ns = static_cast<std::int64_t>(random() % 3);
    return problem;
  }

  /// A candidate over these nodes with one format at all ports; false when the set is not convex.
  bool add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns,
           const std::string& format = "plain") {
    NodeSet set(graph_.nodes.size());
    for (std::size_t n : nodes) set.insert(n);
    if (!Reachability(graph_, uses_).is_convex(set)) return false;
    const Region& region = regions_.emplace_back(make_region(graph_, uses_, set));
    Variant variant{.name = format,
                    .input_formats = std::vector<Format>(region.inputs.size(), Format{format}),
                    .output_formats = std::vector<Format>(region.outputs.size(), Format{format})};
    candidates_.push_back({.region = &region, .backend = backend, .variant = variant, .cost = Measured{ns, ns, ns, 1}});
    return true;
  }

  void add_random(std::mt19937_64& random) {
    const std::size_t n = graph_.nodes.size();
    std::vector<std::size_t> nodes;
    const std::size_t from = random() % n;
    for (std::size_t i = from; i < n && i < from + 5; ++i)
      if (random() % 2 == 0) nodes.push_back(i);
    if (nodes.empty()) nodes.push_back(from);
    add("c", nodes, 1 + static_cast<std::int64_t>(random() % (12 * nodes.size())),
        random() % 2 ? "plain" : "channels_last");
  }

  [[nodiscard]] Result<SearchResult> try_solve() const {
    return choose_cover(
        graph_, uses_, candidates_,
        [this](ValueId, const Place&, const Place&) {
          return std::optional<BoundaryChoice>({"host", Measured{conversion_ns, conversion_ns, conversion_ns, 1}});
        },
        options);
  }
  [[nodiscard]] SearchResult solve() const { return try_solve().value(); }

  /// Least cost over every legal schedule: uniform-cost search with single conversions and single candidates as moves.
  [[nodiscard]] std::int64_t brute_force() const {
    using Held = std::set<std::pair<std::uint32_t, std::string>>;
    using State = std::pair<std::vector<std::size_t>, Held>;
    std::map<State, std::int64_t> best;
    using Entry = std::pair<std::int64_t, State>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto push = [&](std::int64_t cost, State state) {
      const auto [found, added] = best.emplace(state, cost);
      if (!added && found->second <= cost) return;
      found->second = cost;
      queue.emplace(cost, std::move(state));
    };
    push(0, {{}, {{graph_.inputs[0].index, "plain"}}});
    while (!queue.empty()) {
      const auto [cost, state] = queue.top();
      queue.pop();
      if (best.at(state) < cost) continue;
      const auto& [covered, held] = state;
      if (covered.size() == graph_.nodes.size() &&
          std::all_of(graph_.outputs.begin(), graph_.outputs.end(), [&](ValueId v) {
            return held.contains({v.index, "plain"});
          }))
        return cost;
      for (const auto& [value, format] : held) {
        const std::string other = format == "plain" ? "channels_last" : "plain";
        if (held.contains({value, other})) continue;
        Held more = held;
        more.emplace(value, other);
        push(cost + paid(conversion_ns), {covered, more});
      }
      for (const SearchCandidate& candidate : candidates_) {
        const std::vector<std::size_t> nodes = candidate.region->nodes.members();
        if (std::any_of(nodes.begin(), nodes.end(),
                        [&](std::size_t n) { return std::binary_search(covered.begin(), covered.end(), n); }))
          continue;
        const std::string& format = candidate.variant.name;
        if (!std::all_of(candidate.region->inputs.begin(), candidate.region->inputs.end(), [&](ValueId v) {
              return held.contains({v.index, format});
            }))
          continue;
        std::vector<std::size_t> next = covered;
        next.insert(next.end(), nodes.begin(), nodes.end());
        std::sort(next.begin(), next.end());
        Held more = held;
        for (ValueId v : candidate.region->outputs) more.emplace(v.index, format);
        push(cost + *nanoseconds_of(candidate.cost) + options.launch_ns, {next, more});
      }
    }
    return -1;
  }

  /// Replays a cover; "" when every node runs once, every input exists in its format, and the cost adds up.
  [[nodiscard]] std::string check(const Cover& cover) const {
    std::set<std::pair<std::uint32_t, std::string>> held = {{graph_.inputs[0].index, "plain"}};
    NodeSet covered(graph_.nodes.size());
    std::int64_t cost = 0;
    for (const CoverStep& step : cover.steps) {
      const std::int64_t ns = *nanoseconds_of(step.cost);
      if (step.region.nodes.universe() == 0) {
        if (!held.contains({step.value.index, step.from.name})) return "converts a format nobody made";
        held.emplace(step.value.index, step.to.name);
        cost += paid(ns);
        continue;
      }
      if (step.region.nodes.intersects(covered)) return "runs a node twice";
      covered |= step.region.nodes;
      for (std::size_t i = 0; i < step.region.inputs.size(); ++i)
        if (!held.contains({step.region.inputs[i].index, step.variant.input_formats[i].name})) return "reads too early";
      for (std::size_t o = 0; o < step.region.outputs.size(); ++o)
        held.emplace(step.region.outputs[o].index, step.variant.output_formats[o].name);
      cost += ns + options.launch_ns;
    }
    if (covered.count() != graph_.nodes.size()) return "misses a node";
    for (ValueId output : graph_.outputs)
      if (!held.contains({output.index, "plain"})) return "an output is not plain";
    return cost == cover.cost_ns ? "" : "cost does not add up";
  }

 private:
  [[nodiscard]] std::int64_t paid(std::int64_t conversion) const {
    return conversion == 0 ? 0 : conversion + options.launch_ns;
  }

  Graph graph_;
  Uses uses_;
  std::deque<Region> regions_;
  std::vector<SearchCandidate> candidates_;
};

}  // namespace collage::testing_support
