#include "search_fixture.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>
#include <unordered_map>

namespace collage::testing_support {

Problem::Problem(std::size_t nodes, const std::vector<Edge>& edges, const std::vector<std::size_t>& more_outputs)
    : node_count_(nodes), edges_(edges), more_outputs_(more_outputs) {
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {1, 4, 2, 2});
  const ValueId input = add_value(graph_, "input", type);
  graph_.inputs.push_back(input);
  std::vector<std::vector<ValueId>> made(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    const std::size_t outputs = 1 + (n < more_outputs.size() ? more_outputs[n] : 0);
    for (std::size_t o = 0; o < outputs; ++o)
      made[n].push_back(add_value(graph_, "v" + std::to_string(n) + "_" + std::to_string(o), type));
  }
  std::set<std::uint32_t> read;
  for (std::size_t n = 0; n < nodes; ++n) {
    Node node;
    node.name = "n" + std::to_string(n);
    node.op_type = "Sum";
    for (const Edge& edge : edges)
      if (edge.to == n) node.inputs.push_back(made[edge.from][edge.output]);
    for (const ValueId id : node.inputs) read.insert(id.index);
    if (node.inputs.empty()) node.inputs.push_back(input);
    node.outputs = made[n];
    add_node(graph_, node);
  }
  for (const auto& list : made)
    for (const ValueId id : list)
      if (!read.contains(id.index)) graph_.outputs.push_back(id);
  uses_ = uses_of(graph_);
}

Problem Problem::random(std::mt19937_64& random, const RandomShape& shape) {
  std::vector<std::size_t> more(shape.nodes, 0);
  if (shape.several_outputs)
    for (std::size_t& count : more) count = random() % 4 == 0 ? 1 : 0;
  const std::size_t reach = shape.wide ? shape.nodes : 4;
  std::vector<Edge> edges;
  for (std::size_t to = 1; to < shape.nodes; ++to)
    for (std::size_t from = to > reach ? to - reach : 0; from < to; ++from)
      if (random() % (shape.wide ? 5 : 3) == 0) edges.push_back({from, to, more[from] ? random() % 2 : 0});
  Problem problem(shape.nodes, edges, more);
  for (std::size_t n = 0; n < shape.nodes; ++n) {
    problem.add("a", {n}, 5 + static_cast<std::int64_t>(random() % 20));
    if (random() % 4) problem.add("b", {n}, 5 + static_cast<std::int64_t>(random() % 20), "channels_last");
  }
  for (std::size_t i = 0; i < shape.nodes; ++i) problem.add_random(random);
  problem.conversion_ns = static_cast<std::int64_t>(random() % 8);
  problem.options.launch_ns = static_cast<std::int64_t>(random() % 3);
  return problem;
}

NodeSet Problem::set_of(const std::vector<std::size_t>& nodes) const {
  NodeSet set(graph_.nodes.size());
  for (const std::size_t n : nodes) set.insert(n);
  return set;
}

bool Problem::add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns,
                  const std::string& format, const std::vector<std::size_t>& repeated) {
  const NodeSet set = set_of(nodes);
  if (!Reachability(graph_, uses_).is_convex(set)) return false;
  const Region& region = regions_.emplace_back(make_region(graph_, uses_, set, set_of(repeated)));
  Variant variant{.name = format,
                  .input_formats = std::vector<Format>(region.inputs.size(), Format{format}),
                  .output_formats = std::vector<Format>(region.outputs.size(), Format{format})};
  candidates_.push_back({.region = &region, .backend = backend, .variant = variant, .cost = Measured{ns, ns, ns, 1}});
  added_.push_back({backend, nodes, ns, format, repeated});
  return true;
}

void Problem::add_random(std::mt19937_64& random) {
  const std::size_t n = graph_.nodes.size();
  const std::size_t from = random() % n;
  std::vector<std::size_t> nodes;
  for (std::size_t i = from; i < n && i < from + 5; ++i)
    if (random() % 2 == 0) nodes.push_back(i);
  if (nodes.empty()) nodes.push_back(from);
  // A node whose value stays inside, because another step computes it too.
  std::vector<std::size_t> repeated;
  if (nodes.size() > 1 && random() % 3 == 0) repeated.push_back(nodes.front());
  const auto ns = 1 + static_cast<std::int64_t>(random() % (12 * nodes.size()));
  const std::string format = random() % 2 ? "plain" : "channels_last";
  // Now and then the backend turns out not to be able to: not added, as whoever prices would.
  if (random() % 6 != 0) add("c", nodes, ns, format, repeated);
}

void Problem::shuffle_candidates(std::mt19937_64& random) { std::ranges::shuffle(candidates_, random); }

Problem Problem::reordered(std::mt19937_64& random) const {
  std::vector<std::size_t> waits(node_count_, 0);
  for (const Edge& edge : edges_) ++waits[edge.to];
  std::vector<std::size_t> ready;
  for (std::size_t n = 0; n < node_count_; ++n)
    if (waits[n] == 0) ready.push_back(n);
  std::vector<std::size_t> place(node_count_);
  for (std::size_t p = 0; p < node_count_; ++p) {
    std::swap(ready[random() % ready.size()], ready.back());
    const std::size_t node = ready.back();
    ready.pop_back();
    place[node] = p;
    for (const Edge& edge : edges_)
      if (edge.from == node && --waits[edge.to] == 0) ready.push_back(edge.to);
  }
  std::vector<Edge> edges;
  for (const Edge& edge : edges_) edges.push_back({place[edge.from], place[edge.to], edge.output});
  std::vector<std::size_t> more(node_count_, 0);
  for (std::size_t n = 0; n < more_outputs_.size(); ++n) more[place[n]] = more_outputs_[n];
  Problem other(node_count_, edges, more);
  const auto moved = [&](std::vector<std::size_t> nodes) {
    for (std::size_t& n : nodes) n = place[n];
    return nodes;
  };
  for (const Added& a : added_) other.add(a.backend, moved(a.nodes), a.ns, a.format, moved(a.repeated));
  other.options = options;
  other.conversion_ns = conversion_ns;
  return other;
}

BoundaryTable Problem::boundaries() const {
  return [ns = conversion_ns](ValueId, const Place&, const Place&) {
    return std::optional<BoundaryChoice>({"converter", Measured{ns, ns, ns, 1}});
  };
}

Result<SearchResult> Problem::try_solve() const {
  return choose_cover(graph_, uses_, candidates_, boundaries(), options);
}

namespace {

/// A candidate in bits: nodes from bit 0, (value, format) pairs as in held_bit().
struct Move {
  std::uint64_t covers = 0;
  std::uint64_t needs = 0;
  std::uint64_t gives = 0;
  std::int64_t cost = 0;
};

std::uint64_t held_bit(ValueId value, const std::string& format) {
  return std::uint64_t{1} << (12 + 2 * value.index + (format == "plain" ? 0U : 1U));
}

}  // namespace

std::optional<std::int64_t> Problem::brute_force() const {
  COLLAGE_CHECK(node_count_ <= 12 && graph_.values.size() <= 26, "too large for brute force");
  std::vector<Move> moves;
  for (const SearchCandidate& candidate : candidates_) {
    Move move{.cost = *nanoseconds_of(candidate.cost) + options.launch_ns};
    const std::string& format = candidate.variant.name;
    for (const std::size_t n : candidate.region->covered().members()) move.covers |= std::uint64_t{1} << n;
    for (const ValueId v : candidate.region->inputs) move.needs |= held_bit(v, format);
    for (const ValueId v : candidate.region->outputs) move.gives |= held_bit(v, format);
    moves.push_back(move);
  }
  std::uint64_t goal = (std::uint64_t{1} << node_count_) - 1;
  for (const ValueId output : graph_.outputs) goal |= held_bit(output, "plain");

  std::unordered_map<std::uint64_t, std::int64_t> best;
  using Entry = std::pair<std::int64_t, std::uint64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto push = [&](std::int64_t cost, std::uint64_t state) {
    const auto [found, added] = best.emplace(state, cost);
    if (!added && found->second <= cost) return;
    found->second = cost;
    queue.emplace(cost, state);
  };
  push(0, held_bit(graph_.inputs[0], "plain"));
  while (!queue.empty()) {
    const auto [cost, state] = queue.top();
    queue.pop();
    if (best.at(state) < cost) continue;
    if ((state & goal) == goal) return cost;
    // Conversions are tried where a move or the goal lacks them, which loses no schedule: others pay for nothing.
    std::uint64_t lacking = goal >> 12U << 12U;
    for (const Move& move : moves) {
      if (state & move.covers) continue;
      if ((state & move.needs) == move.needs)
        push(cost + move.cost, state | move.covers | move.gives);
      lacking |= move.needs;
    }
    for (std::uint64_t left = lacking & ~state; left != 0; left &= left - 1) {
      const std::uint64_t bit = left & -left;
      const bool is_plain = std::countr_zero(bit) % 2 == 0;
      if (state & (is_plain ? bit << 1U : bit >> 1U)) push(cost + paid(conversion_ns), state | bit);
    }
  }
  return std::nullopt;
}

std::string Problem::check(const Cover& cover) const {
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
    if (step.region.covered().intersects(covered)) return "covers a node twice";
    covered |= step.region.covered();
    for (std::size_t i = 0; i < step.region.inputs.size(); ++i)
      if (!held.contains({step.region.inputs[i].index, step.variant.input_formats[i].name})) return "reads too early";
    for (std::size_t o = 0; o < step.region.outputs.size(); ++o)
      held.emplace(step.region.outputs[o].index, step.variant.output_formats[o].name);
    cost += ns + options.launch_ns;
  }
  if (covered.count() != graph_.nodes.size()) return "misses a node";
  for (const ValueId output : graph_.outputs)
    if (!held.contains({output.index, "plain"})) return "an output is not plain";
  return cost == cover.cost_ns ? "" : "cost does not add up";
}

}  // namespace collage::testing_support
