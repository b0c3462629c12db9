#include "search_fixture.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include "region/narrow_variant.h"

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
    if (shape.device && random() % 2)
      problem.add("d", {n}, 1 + static_cast<std::int64_t>(random() % 12), "plain", {}, kDevice);
  }
  for (std::size_t i = 0; i < shape.nodes; ++i) problem.add_random(random);
  for (std::size_t n = 0; shape.narrow && n < shape.nodes; ++n) {
    const std::string format = random() % 2 ? "plain" : "channels_last";
    const auto ns = 1 + static_cast<std::int64_t>(random() % 16);
    if (random() % 4) problem.add_narrow({n}, ns, format, true, random() % 2 == 0, {});
    problem.add_random(random, true);
  }
  problem.conversion_ns = static_cast<std::int64_t>(random() % 8);
  problem.options.launch_ns = static_cast<std::int64_t>(random() % 3);
  problem.transfer_ns = static_cast<std::int64_t>(random() % 12);
  problem.cast_ns = static_cast<std::int64_t>(random() % 6);
  return problem;
}

NodeSet Problem::set_of(const std::vector<std::size_t>& nodes) const {
  NodeSet set(graph_.nodes.size());
  for (const std::size_t n : nodes) set.insert(n);
  return set;
}

bool Problem::add(const std::string& backend, const std::vector<std::size_t>& nodes, std::int64_t ns,
                  const std::string& format, const std::vector<std::size_t>& repeated, const std::string& location) {
  const NodeSet set = set_of(nodes);
  if (!Reachability(graph_, uses_).is_convex(set)) return false;
  const Region& region = regions_.emplace_back(make_region(graph_, uses_, set, set_of(repeated)));
  Variant variant{.name = format,
                  .input_formats = std::vector<Format>(region.inputs.size(), Format{format}),
                  .output_formats = std::vector<Format>(region.outputs.size(), Format{format})};
  candidates_.push_back({.region = &region,
                         .backend = backend,
                         .variant = variant,
                         .cost = Measured{ns, ns, ns, 1},
                         .location = location});
  added_.push_back({backend, nodes, ns, format, repeated, location});
  return true;
}

bool Problem::add_narrow(const std::vector<std::size_t>& nodes, std::int64_t ns, const std::string& format, bool inputs,
                         bool outputs, const std::vector<std::size_t>& repeated) {
  if (!add("n", nodes, ns, format, repeated)) return false;
  Variant& variant = candidates_.back().variant;
  const auto narrow = [](std::vector<Format>& formats) {
    for (Format& one : formats) one = stored_as(one, ElementType::kBfloat16);
  };
  if (inputs) narrow(variant.input_formats);
  if (outputs) narrow(variant.output_formats);
  return true;
}

void Problem::add_random(std::mt19937_64& random, bool narrow) {
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
  if (random() % 6 == 0) return;
  if (narrow)
    add_narrow(nodes, ns, format, random() % 3 != 0, random() % 2 == 0, repeated);
  else
    add("c", nodes, ns, format, repeated);
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
  for (const Added& a : added_) other.add(a.backend, moved(a.nodes), a.ns, a.format, moved(a.repeated), a.location);
  other.options = options;
  other.conversion_ns = conversion_ns;
  other.transfer_ns = transfer_ns;
  return other;
}

BoundaryTable Problem::boundaries() const {
  return [this](ValueId, const Place& from, const Place& to) -> std::optional<BoundaryChoice> {
    const bool moves = from.location != to.location;
    if (moves && from.format != to.format) return std::nullopt;
    const std::int64_t ns = moves ? transfer_ns : converting_ns(from.format, to.format);
    return BoundaryChoice{"converter", Measured{ns, ns, ns, 1}};
  };
}

std::int64_t Problem::converting_ns(const Format& from, const Format& to) const {
  return (from.full() == to.full() ? 0 : conversion_ns) + (from.narrow() == to.narrow() ? 0 : cast_ns);
}

Result<SearchResult> Problem::try_solve() const {
  return choose_cover(graph_, uses_, candidates_, boundaries(), options);
}

namespace {

constexpr std::size_t kMostNodes = 10;

/// A candidate in bits: nodes from bit 0, (value, place) pairs as in held_bit().
struct Move {
  std::uint64_t covers = 0;
  std::uint64_t needs = 0;
  std::uint64_t gives = 0;
  std::int64_t cost = 0;
};

/// Places of a value: at home in these formats; plain on the device, where one takes part, in place of the third.
const std::array<Format, 4> kFormats = {plain(), channels_last(), stored_as(plain(), ElementType::kBfloat16),
                                        stored_as(channels_last(), ElementType::kBfloat16)};
constexpr std::size_t kAtDevice = 2;

std::size_t place_of(const std::string& location, const Format& format) {
  return location == kDevice ? kAtDevice
                             : static_cast<std::size_t>(std::ranges::find(kFormats, format) - kFormats.begin());
}

}  // namespace

std::optional<std::int64_t> Problem::brute_force() const {
  const bool uses_other_devices = uses_device();
  const std::size_t formats = uses_narrow() ? 4 : 2;
  const std::size_t places = std::max<std::size_t>(formats, 3);
  COLLAGE_CHECK(node_count_ <= kMostNodes && kMostNodes + places * graph_.values.size() <= 64,
                "too large for brute force");
  COLLAGE_CHECK(formats == 2 || !uses_other_devices, "a device and narrow formats");
  const auto held_bit = [places](std::uint32_t value, std::size_t place) {
    return std::uint64_t{1} << (kMostNodes + places * value + place);
  };
  std::vector<Move> moves;
  for (const SearchCandidate& candidate : candidates_) {
    Move move{.cost = *nanoseconds_of(candidate.cost) + options.launch_ns};
    const Region& region = *candidate.region;
    const auto port_bit = [&](ValueId value, const Format& format) {
      return held_bit(value.index, place_of(candidate.location, format));
    };
    for (const std::size_t n : region.covered().members()) move.covers |= std::uint64_t{1} << n;
    for (std::size_t i = 0; i < region.inputs.size(); ++i)
      move.needs |= port_bit(region.inputs[i], candidate.variant.input_formats[i]);
    for (std::size_t o = 0; o < region.outputs.size(); ++o)
      move.gives |= port_bit(region.outputs[o], candidate.variant.output_formats[o]);
    moves.push_back(move);
  }
  std::uint64_t goal = (std::uint64_t{1} << node_count_) - 1;
  for (const ValueId output : graph_.outputs) goal |= held_bit(output.index, 0);

  std::unordered_map<std::uint64_t, std::int64_t> best;
  using Entry = std::pair<std::int64_t, std::uint64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto push = [&](std::int64_t cost, std::uint64_t state) {
    const auto [found, added] = best.emplace(state, cost);
    if (!added && found->second <= cost) return;
    found->second = cost;
    queue.emplace(cost, state);
  };
  push(0, held_bit(graph_.inputs[0].index, 0));
  while (!queue.empty()) {
    const auto [cost, state] = queue.top();
    queue.pop();
    if (best.at(state) < cost) continue;
    if ((state & goal) == goal) return cost;
    // Conversions are tried where a move or the goal lacks their result, which loses no schedule: others pay for
    // nothing.
    std::uint64_t lacking = goal;
    for (const Move& move : moves) {
      if (state & move.covers) continue;
      if ((state & move.needs) == move.needs) push(cost + move.cost, state | move.covers | move.gives);
      lacking |= move.needs;
    }
    lacking &= ~state;
    for (std::uint32_t v = 0; v < graph_.values.size(); ++v) {
      const auto holds = [&, s = state](std::size_t place) { return (s & held_bit(v, place)) != 0; };
      const auto make = [&, c = cost, s = state](std::size_t from, std::size_t to, std::int64_t ns) {
        // Plain at home may also be on the way between the device and another format.
        const bool is_stop = to == 0 && uses_other_devices;
        const std::uint64_t wanted = is_stop ? held_bit(v, 0) | held_bit(v, 1) | held_bit(v, 2) : held_bit(v, to);
        if (holds(from) && !holds(to) && (lacking & wanted)) push(c + paid(ns), s | held_bit(v, to));
      };
      for (std::size_t from = 0; from < formats; ++from)
        for (std::size_t to = 0; to < formats; ++to)
          if (from != to) make(from, to, converting_ns(kFormats[from], kFormats[to]));
      if (!uses_other_devices) continue;
      make(0, kAtDevice, transfer_ns);
      make(kAtDevice, 0, transfer_ns);
    }
  }
  return std::nullopt;
}

bool Problem::uses_device() const {
  return std::ranges::any_of(candidates_, [](const SearchCandidate& c) { return c.location == kDevice; });
}

bool Problem::uses_narrow() const {
  return std::ranges::any_of(candidates_, [](const SearchCandidate& c) { return has_narrow_port(c.variant); });
}

std::string Problem::check(const Cover& cover) const {
  using Held = std::set<std::tuple<std::uint32_t, std::string, std::string>>;
  Held held = {{graph_.inputs[0].index, kHome, "plain"}};
  NodeSet covered(graph_.nodes.size());
  std::int64_t cost = 0;
  for (const CoverStep& step : cover.steps) {
    const std::int64_t ns = *nanoseconds_of(step.cost);
    if (const auto move = move_of(step)) {
      if (!held.contains({move->value.index, move->from.location, move->from.format.name}))
        return "converts what nobody made";
      held.emplace(move->value.index, move->to.location, move->to.format.name);
      cost += paid(ns);
      continue;
    }
    const Region& region = *chosen_region(step);
    if (region.covered().intersects(covered)) return "covers a node twice";
    covered |= region.covered();
    const Variant& variant = *chosen_variant(step);
    for (std::size_t i = 0; i < region.inputs.size(); ++i)
      if (!held.contains({region.inputs[i].index, location_of(step), variant.input_formats[i].name}))
        return "reads too early";
    for (std::size_t o = 0; o < region.outputs.size(); ++o)
      held.emplace(region.outputs[o].index, location_of(step), variant.output_formats[o].name);
    cost += ns + options.launch_ns;
  }
  if (covered.count() != graph_.nodes.size()) return "misses a node";
  for (const ValueId output : graph_.outputs)
    if (!held.contains({output.index, kHome, "plain"})) return "an output is not plain at home";
  return cost == cover.cost_ns ? "" : "cost does not add up";
}

}  // namespace collage::testing_support
