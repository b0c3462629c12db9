// The state search, by an example. Costs are in microseconds; steps have no launch cost here.
//
//   x -> A -> v -> B -> y        x and y are plain
//
//   candidate   takes           cost       converting v between plain and channels_last costs 2
//   p: A        plain -> plain    6
//   q: A        plain -> last     3
//   p: B        plain -> plain    4
//   q: B        last  -> plain    2
//   p: A B      plain -> plain    7
//
// A state is the set of covered nodes and, for each live value, the places that hold it. A pass processes states by
// their number of covered nodes. The lower bound of a state is its cost plus the least cost of the rest when
// conversions are free (lattice.h): 2 for B alone.
//
//   0 covered   {}       x plain         cost 0   bound 0 + 5
//   1 covered   {A}      v plain         cost 6   by p: A
//               {A}      v last          cost 3   by q: A
//   2 covered   {A, B}   y plain         cost 7   by p: A B
//
// Dominance: the state with v in `last` drops the one with v plain. Cost 3 and one conversion to plain, 2, are 5, not
// more than 6, so every continuation of the other state is available to this one at no higher cost. The converse fails,
// since 6 > 3. A state that holds v in both places would need no conversion to drop either.
//
//   2 covered   {A, B}   y plain         cost 5   by q: A, q: B         drops the 7 by p: A B
//               {A, B}   y plain         cost 9   by q: A, v to plain (2), p: B: dropped
//
// The answer is q, q with cost 5. A region of two nodes may come between others: where a candidate that covers the
// first uncovered node waits for a value, the lattice also has the edges that compute this value first, so states such
// as {A, C} without B exist, and every path is a legal order of execution.
//
// Ties: costs compare as (ns, steps, conversions, memory), the conversions of the comparison included, so that a state
// never drops one that needs fewer steps for the same time.
#include "search/state_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

namespace collage {
namespace {

constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};
/// Ways to bring the ports of one step where they are needed that are tried; of the others only the direct ones.
constexpr std::size_t kMostWays = 64;
/// Detours tried in one step, those that cost too much before they end included.
constexpr std::size_t kMostTries = 512;
/// A set holds so many times as many states as the beam is wide before the worst are dropped.
constexpr std::size_t kOverfull = 2;
/// Comparisons for each state that a pass may keep; where there are more, the beam becomes narrower, down to this
/// width.
constexpr std::size_t kWorkPerState = 512;
constexpr std::size_t kLeastWidth = 16;

/// A way to a covered set: its cost, and where each live value is (in the pool of masks, in the order of Set::live).
struct State {
  PathCost cost;
  std::int64_t peak = 0;
  std::uint32_t parent = kNoIndex;
  std::uint32_t group = 0;
  std::uint32_t option = 0;
  std::uint32_t first_stop = 0;  ///< in the pool of stops
  std::uint32_t stops = 0;
  std::size_t masks = 0;
};

/// A state of a set, with its time at hand: most comparisons need no more.
struct Entry {
  std::int64_t ns = 0;
  std::uint32_t state = 0;
};

/// Where the live values of an edge's target come from, and the ports of its group among those of its source.
struct EdgeMap {
  struct Source {
    std::uint32_t live = kNoIndex;    ///< index into the source's live values
    std::uint32_t output = kNoIndex;  ///< index into the group's outputs
  };
  std::vector<Source> target;
  std::vector<std::uint32_t> inputs;  ///< by port: index into the source's live values
  std::vector<bool> is_output;        ///< by output port: a model output
  std::vector<bool> lives_on;         ///< by port, inputs before outputs: others read it after the step
};

std::uint32_t index_in(std::span<const std::uint32_t> sorted, std::uint32_t value) {
  const auto found = std::ranges::lower_bound(sorted, value);
  return found != sorted.end() && *found == value ? static_cast<std::uint32_t>(found - sorted.begin()) : kNoIndex;
}

class Pass {
 public:
  Pass(const Problem& problem, const Lattice& lattice, std::size_t width, std::int64_t most_ns)
      : problem_(problem),
        lattice_(lattice),
        most_width_(width),
        width_(width),
        most_ns_(most_ns),
        of_set_(lattice.sets.size()) {}

  PassResult run() {
    add_start();
    for (std::size_t count = 0; count < problem_.size(); ++count) {
      cut(lattice_.layers[count]);
      for (const std::uint32_t set : lattice_.layers[count]) expand(set);
      fit_width(count + 1);
    }
    return finish();
  }

 private:
  void add_start() {
    State start;
    start.masks = masks_.size();
    masks_.insert(masks_.end(), lattice_.live_of(0).size(), mask_of(0));
    of_set_[0].push_back({.ns = 0, .state = 0});
    states_.push_back(start);
  }

  /// What the best cover through a state costs at least.
  std::int64_t objective(const PathCost& cost, std::int64_t peak, std::uint32_t set) const {
    const double memory = problem_.options.ns_per_byte * static_cast<double>(peak);
    return cost.ns + lattice_.sets[set].rest_ns + static_cast<std::int64_t>(std::llround(memory));
  }

  /// By the work so far, not by the clock: the same problem gives the same cover.
  void fit_width(std::size_t layers) {
    const bool is_too_wide = work_ > kWorkPerState * most_width_ * layers;
    width_ = is_too_wide ? std::max(std::min(kLeastWidth, most_width_), width_ / 2) : std::min(most_width_, 2 * width_);
  }

  struct Ranked {
    std::int64_t objective;
    PathCost cost;
    std::uint32_t set;
    std::uint32_t state;
  };

  /// Takes the states out of these sets, the best first.
  std::vector<Ranked> ranked(std::span<const std::uint32_t> sets) {
    std::vector<Ranked> states;
    for (const std::uint32_t set : sets) {
      for (const Entry& entry : of_set_[set]) {
        const State& state = states_[entry.state];
        states.push_back({objective(state.cost, state.peak, set), state.cost, set, entry.state});
      }
      of_set_[set].clear();
    }
    std::ranges::stable_sort(states, {}, [](const Ranked& one) { return std::pair(one.objective, one.cost); });
    return states;
  }

  /// Leaves the best states of these sets, as many as the beam is wide.
  void keep_best(std::span<const std::uint32_t> sets) {
    std::vector<Ranked> states = ranked(sets);
    if (states.size() > width_) {
      result_.dropped_ns = std::min(result_.dropped_ns, states[width_].objective);
      states.resize(width_);
    }
    for (const Ranked& kept : states) of_set_[kept.set].push_back({.ns = kept.cost.ns, .state = kept.state});
  }

  void cut(const std::vector<std::uint32_t>& layer) {
    std::size_t total = 0;
    for (const std::uint32_t set : layer) total += of_set_[set].size();
    result_.states += total;
    if (total > width_) keep_best(layer);
  }

  void expand(std::uint32_t set) {
    if (of_set_[set].empty()) return;
    for (const Lattice::Edge& edge : lattice_.edges_of(set)) {
      if (lattice_.sets[edge.target].rest_ns >= kImpossible) continue;
      const Group& group = problem_.groups[edge.group];
      make_map(set, edge);
      for (const Entry& entry : of_set_[set])
        for (std::uint32_t o = 0; o < group.options.size(); ++o) step(entry.state, edge, group, o);
    }
    of_set_[set].clear();
  }

  void make_map(std::uint32_t set, const Lattice::Edge& edge) {
    source_ = lattice_.live_of(set);
    const Group& group = problem_.groups[edge.group];
    map_.target.clear();
    for (const std::uint32_t value : lattice_.live_of(edge.target)) {
      EdgeMap::Source from{.live = index_in(source_, value)};
      const auto output = std::ranges::find(group.outputs, value);
      if (output != group.outputs.end()) from.output = static_cast<std::uint32_t>(output - group.outputs.begin());
      map_.target.push_back(from);
    }
    map_.inputs.clear();
    for (const std::uint32_t value : group.inputs) map_.inputs.push_back(index_in(source_, value));
    map_.is_output.clear();
    for (const std::uint32_t value : group.outputs) map_.is_output.push_back(problem_.uses->is_output[value]);
    map_.lives_on.clear();
    for (const auto* ports : {&group.inputs, &group.outputs})
      for (const std::uint32_t value : *ports)
        map_.lives_on.push_back(index_in(lattice_.live_of(edge.target), value) != kNoIndex);
  }

  void step(std::uint32_t from, const Lattice::Edge& edge, const Group& group, std::uint32_t o) {
    const Option& option = group.options[o];
    State next{
        .cost = states_[from].cost, .peak = states_[from].peak, .parent = from, .group = edge.group, .option = o};
    next.cost += option.cost;
    if (objective(next.cost, next.peak, edge.target) > most_ns_) return;
    const auto held = masks_.begin() + static_cast<std::ptrdiff_t>(states_[from].masks);
    held_.assign(held, held + static_cast<std::ptrdiff_t>(source_.size()));
    made_.clear();
    for (std::size_t i = 0; i < group.outputs.size(); ++i) made_.push_back(mask_of(option.out[i]));
    stops_here_.clear();
    ways_ = 0;
    tries_ = 0;
    bring(0, next, edge, group, option);
  }

  /// Brings the ports from number `port` on, inputs first and then model outputs, where they are needed, in every way
  /// that may pay.
  void bring(std::size_t port, State next, const Lattice::Edge& edge, const Group& group, const Option& option) {
    const std::size_t inputs = map_.inputs.size();
    const std::size_t first_change = changes_.size();
    for (;; ++port) {
      if (port == inputs + group.outputs.size()) {
        arrive(next, edge, group, option);
        break;
      }
      const bool is_input = port < inputs;
      if (is_input && map_.inputs[port] == kNoIndex) break;  // its maker keeps it to itself
      if (!is_input && !map_.is_output[port - inputs]) continue;
      const Bringing one{.value = is_input ? group.inputs[port] : group.outputs[port - inputs],
                         .place = is_input ? option.in[port] : std::uint8_t{0},
                         .held = is_input ? held_[map_.inputs[port]] : made_[port - inputs]};
      if ((one.held & mask_of(one.place)) != 0) continue;
      if (map_.lives_on[port] && problem_.routes[one.value].may_detour(one.held, one.place)) {
        branch(port, one, next, edge, group, option);
        break;
      }
      changes_.emplace_back(&one.held, one.held);
      if (!require(next.cost, problem_.routes[one.value], one.held, one.place)) break;
      if (objective(next.cost, next.peak, edge.target) > most_ns_) break;
    }
    while (changes_.size() > first_change) {
      *changes_.back().first = changes_.back().second;
      changes_.pop_back();
    }
  }

  /// A port's value, where it is needed, and where it is.
  struct Bringing {
    std::uint32_t value;
    std::uint8_t place;
    PlaceMask& held;
  };

  /// Brings one port directly and by every detour, and then the others.
  void branch(std::size_t port, const Bringing& one, const State& next, const Lattice::Edge& edge, const Group& group,
              const Option& option) {
    const ValueRoutes& routes = problem_.routes[one.value];
    const PlaceMask before = one.held;
    // The direct way is the shortest: no way leads to less.
    PathCost direct = next.cost;
    direct += routes.cheapest(before, one.place).first;
    if (direct.ns >= kImpossible) return;
    const std::int64_t least = objective(direct, next.peak, edge.target);
    if (least > most_ns_) return;
    const auto go_on = [&](const Stops& detour) {
      State further = next;
      for (std::uint8_t i = 0; i < detour.count; ++i)
        if (!require(further.cost, routes, one.held, detour.places[i])) return;
      if (!require(further.cost, routes, one.held, one.place)) return;
      if (objective(further.cost, further.peak, edge.target) > most_ns_) return;
      for (std::uint8_t i = 0; i < detour.count; ++i)
        stops_here_.push_back({.value = one.value, .place = detour.places[i]});
      bring(port + 1, further, edge, group, option);
      stops_here_.resize(stops_here_.size() - detour.count);
    };
    go_on({});
    one.held = before;
    // A copy: what comes after may find more detours.
    const Detours detours = detours_of(one.value, before, one.place);
    for (std::uint32_t d = detours.first; d < detours.first + detours.count; ++d) {
      if (ways_ >= kMostWays || ++tries_ > kMostTries) {
        result_.dropped_ns = std::min(result_.dropped_ns, least);
        break;
      }
      go_on(Stops(detours_[d]));
      one.held = before;
    }
  }

  /// In the pool of detours.
  struct Detours {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  /// The same question comes up in many states.
  Detours detours_of(std::uint32_t value, PlaceMask held, std::uint8_t place) {
    const auto [found, is_new] = known_detours_.try_emplace(std::tuple(value, held, place));
    if (is_new) {
      found->second.first = static_cast<std::uint32_t>(detours_.size());
      problem_.routes[value].add_detours(held, place, detours_);
      found->second.count = static_cast<std::uint32_t>(detours_.size()) - found->second.first;
    }
    return found->second;
  }

  /// The step is done.
  void arrive(State next, const Lattice::Edge& edge, const Group& group, const Option& option) {
    ++ways_;
    if (problem_.minds_memory && !fits(group, option, next.peak)) return;
    if (objective(next.cost, next.peak, edge.target) > most_ns_) return;
    after_.clear();
    for (const EdgeMap::Source& source : map_.target)
      after_.push_back(source.output != kNoIndex ? made_[source.output]
                       : source.live != kNoIndex ? held_[source.live]
                                                 : 0);
    add_if_not_dominated(next, edge.target);
  }

  /// Makes the value exist at `place`, with all places on the way.
  static bool require(PathCost& cost, const ValueRoutes& routes, PlaceMask& held, std::uint8_t place) {
    if (held & mask_of(place)) return true;
    const auto [way, start] = routes.cheapest(held, place);
    if (way.ns >= kImpossible) return false;
    cost += way;
    held |= routes.on_way(start, place);
    return true;
  }

  /// Bytes at every location while the step runs, against the limits; updates the peak at home.
  bool fits(const Group& group, const Option& option, std::int64_t& peak) {
    bytes_.assign(problem_.locations.size(), 0);
    for (std::size_t i = 0; i < held_.size(); ++i) add_bytes(problem_.routes[source_[i]], held_[i]);
    for (std::size_t i = 0; i < made_.size(); ++i) add_bytes(problem_.routes[group.outputs[i]], made_[i]);
    bytes_[option.location] += option.workspace;
    peak = std::max(peak, bytes_[0]);
    for (std::size_t l = 0; l < bytes_.size(); ++l)
      if (bytes_[l] > problem_.capacity[l]) return false;
    return true;
  }

  void add_bytes(const ValueRoutes& routes, PlaceMask held) {
    for (std::size_t p = 0; p < routes.places.size(); ++p) {
      if (!(held & mask_of(static_cast<std::uint8_t>(p))) || (p == 0 && !routes.is_ours)) continue;
      const auto location = std::ranges::find(problem_.locations, routes.places[p].location);
      bytes_[static_cast<std::size_t>(location - problem_.locations.begin())] += routes.bytes[p];
    }
  }

  /// a dominates b when it costs no more even after making every place that b has.
  bool dominates(const PathCost& a, std::int64_t a_peak, const PlaceMask* a_masks, const PathCost& b,
                 std::int64_t b_peak, const PlaceMask* b_masks, std::span<const std::uint32_t> live) const {
    if (problem_.minds_memory) return a <= b && a_peak <= b_peak && std::equal(a_masks, a_masks + live.size(), b_masks);
    // Times alone decide almost always.
    std::int64_t left_ns = b.ns - a.ns;
    if (left_ns < 0) return false;
    for (std::size_t i = 0; i < live.size(); ++i)
      for (PlaceMask missing = b_masks[i] & ~a_masks[i]; missing != 0; missing &= missing - 1) {
        const auto place = static_cast<std::uint8_t>(std::countr_zero(missing));
        left_ns -= problem_.routes[live[i]].cheapest_ns(a_masks[i], place);
        if (left_ns < 0) return false;
      }
    return left_ns > 0 || dominates_at_equal_time(a, a_masks, b, b_masks, live);
  }

  bool dominates_at_equal_time(const PathCost& a, const PlaceMask* a_masks, const PathCost& b, const PlaceMask* b_masks,
                               std::span<const std::uint32_t> live) const {
    PathCost matched = a;
    for (std::size_t i = 0; i < live.size(); ++i)
      for (PlaceMask missing = b_masks[i] & ~a_masks[i]; missing != 0; missing &= missing - 1)
        matched +=
            problem_.routes[live[i]].cheapest(a_masks[i], static_cast<std::uint8_t>(std::countr_zero(missing))).first;
    return matched <= b;
  }

  void add_if_not_dominated(State& next, std::uint32_t target) {
    const std::span<const std::uint32_t> live = lattice_.live_of(target);
    std::vector<Entry>& others = of_set_[target];
    work_ += others.size();
    for (const Entry& other : others)
      if (other.ns <= next.cost.ns &&
          dominates(states_[other.state].cost, states_[other.state].peak, masks_.data() + states_[other.state].masks,
                    next.cost, next.peak, after_.data(), live))
        return;
    std::erase_if(others, [&](const Entry& other) {
      return other.ns >= next.cost.ns &&
             dominates(next.cost, next.peak, after_.data(), states_[other.state].cost, states_[other.state].peak,
                       masks_.data() + states_[other.state].masks, live);
    });
    next.first_stop = static_cast<std::uint32_t>(stops_.size());
    next.stops = static_cast<std::uint32_t>(stops_here_.size());
    stops_.insert(stops_.end(), stops_here_.begin(), stops_here_.end());
    next.masks = masks_.size();
    masks_.insert(masks_.end(), after_.begin(), after_.end());
    others.push_back({.ns = next.cost.ns, .state = static_cast<std::uint32_t>(states_.size())});
    states_.push_back(next);
    // The beam will cut them: until then each is compared with all that come.
    if (others.size() > kOverfull * width_) keep_best({&target, 1});
  }

  std::vector<Stop> stops_of(const State& state) const {
    const auto first = stops_.begin() + state.first_stop;
    return {first, first + state.stops};
  }

  PassResult finish() {
    std::uint32_t best = kNoIndex;
    std::uint32_t best_set = 0;
    const auto rank = [&](std::uint32_t s, std::uint32_t set) {
      return std::pair(objective(states_[s].cost, states_[s].peak, set), states_[s].cost);
    };
    for (const std::uint32_t set : lattice_.layers[problem_.size()])
      for (const auto& [ns, s] : of_set_[set])
        if (best == kNoIndex || rank(s, set) < rank(best, best_set)) {
          best = s;
          best_set = set;
        }
    if (best == kNoIndex) return std::move(result_);
    result_.cost = states_[best].cost;
    result_.peak_bytes = states_[best].peak;
    result_.path.emplace();
    for (std::uint32_t s = best; states_[s].parent != kNoIndex; s = states_[s].parent)
      result_.path->push_back({.group = states_[s].group, .option = states_[s].option, .stops = stops_of(states_[s])});
    std::ranges::reverse(*result_.path);
    return std::move(result_);
  }

  const Problem& problem_;
  const Lattice& lattice_;
  const std::size_t most_width_;
  std::size_t width_;  ///< of the beam
  const std::int64_t most_ns_;
  std::vector<std::vector<Entry>> of_set_;
  std::vector<State> states_;
  std::vector<PlaceMask> masks_;
  std::vector<Stop> stops_;
  PassResult result_;
  std::size_t work_ = 0;  ///< comparisons of states

  // of the edge and step at work, kept to save allocations
  std::span<const std::uint32_t> source_;  ///< live values of the set that is expanded
  EdgeMap map_;
  std::vector<PlaceMask> held_;
  std::vector<PlaceMask> made_;
  std::vector<PlaceMask> after_;
  std::vector<Stop> stops_here_;
  std::vector<Stops> detours_;
  std::map<std::tuple<std::uint32_t, PlaceMask, std::uint8_t>, Detours> known_detours_;
  std::vector<std::pair<PlaceMask*, PlaceMask>> changes_;  ///< of places, to be taken back
  std::size_t ways_ = 0;                                   ///< of one step, so far
  std::size_t tries_ = 0;                                  ///< likewise
  std::vector<std::int64_t> bytes_;
};

}  // namespace

PassResult search_states(const Problem& problem, const Lattice& lattice, std::size_t width, std::int64_t most_ns) {
  return Pass(problem, lattice, width, most_ns).run();
}

}  // namespace collage
