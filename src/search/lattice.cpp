// The lower bound of the search, by an example. Costs are in microseconds.
//
//   A -> B -> C                  values lie plain or in channels_last; converting between them costs 2
//
//   candidate    takes           cost          candidate    takes           cost
//   p: A         plain -> plain     6          q: B         last -> last       2
//   q: A         plain -> last      3          p: C         plain -> plain     5
//   p: B         plain -> plain     4          p: B C       plain -> plain     4
//
// Candidates for the same nodes form a group, and the relaxed problem takes the least cost of each: A 3, B 2, C 5,
// B C 4. Conversions are free in it, so a state is only the set of covered nodes:
//
//   set          reached by                      least cost of the rest (rest_ns), computed from the last set back
//   {}                                           min(A: 3 + 4)                    7
//   {A}          {} + A                          min(B: 2 + 5, B C: 4 + 0)        4
//   {A, B}       {A} + B                         min(C: 5 + 0)                    5
//   {A, B, C}    {A} + B C, {A, B} + C           nothing is left                  0
//
// No cover costs less than 7, because conversions only add to it. The best one is q: A, conversion, p: B C with
// 3 + 2 + 4 = 9. Once the search knows it, it drops every state whose cost plus rest_ns reaches 9: {A, B} by q: A and
// q: B has cost 5, and 5 + 5 = 10.
//
// A layer with too many sets keeps those with the least cost so far plus shares of the nodes left. The share of a node
// is the least that any cover pays for it: the least cost / number of nodes over the groups that cover it. Here A has
// min(3) = 3, B min(2, 4 / 2) = 2 and C min(5, 4 / 2) = 2, so {A, B} is estimated at 3 + 2 + 2 = 7. The least estimate
// among the sets that were dropped bounds all covers through them (dropped_ns).
#include "search/lattice.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "search/prefix_set.h"

namespace collage {
namespace {

/// Sets by their numbers, found by what they cover: a set that is there already is not copied to look for it.
class Index {
 public:
  explicit Index(const std::vector<PrefixSet>& covered) : numbers_(0, Hash{&covered}, Equal{&covered}) {}

  [[nodiscard]] std::optional<std::uint32_t> find(const PrefixSet& covered) const {
    const auto found = numbers_.find(covered);
    return found == numbers_.end() ? std::nullopt : std::optional(*found);
  }
  void add(std::uint32_t number) { numbers_.insert(number); }

 private:
  struct Hash {
    using is_transparent = void;
    const std::vector<PrefixSet>* covered;
    std::size_t operator()(const PrefixSet& set) const { return set.hash(); }
    std::size_t operator()(std::uint32_t number) const { return (*covered)[number].hash(); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<PrefixSet>* covered;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(const PrefixSet& a, std::uint32_t b) const { return a == (*covered)[b]; }
    bool operator()(std::uint32_t a, const PrefixSet& b) const { return (*covered)[a] == b; }
  };

  std::unordered_set<std::uint32_t, Hash, Equal> numbers_;
};

/// The groups that cover a position and may be chosen, those that begin last first: a set whose first uncovered node
/// comes after the beginning of a group meets neither that group nor those after it.
class GroupsAt {
 public:
  struct Entry {
    std::uint32_t begin = 0;  ///< position
    std::uint32_t group = 0;
  };

  explicit GroupsAt(const Problem& problem) {
    for (const auto& groups : problem.groups_at) {
      first_.push_back(static_cast<std::uint32_t>(entries_.size()));
      for (const std::uint32_t g : groups)
        if (problem.groups[g].least_ns < kImpossible) entries_.push_back({problem.groups[g].covers.front(), g});
      std::sort(entries_.begin() + first_.back(), entries_.end(), [](const Entry& a, const Entry& b) {
        return std::pair(b.begin, a.group) < std::pair(a.begin, b.group);
      });
    }
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
  }

  [[nodiscard]] std::span<const Entry> at(std::uint32_t position) const {
    return std::span(entries_).subspan(first_[position], first_[position + 1] - first_[position]);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  ///< by position
};

class LatticeBuilder {
 public:
  LatticeBuilder(const Problem& problem, std::size_t max_sets)
      : problem_(problem), groups_at_(problem), max_sets_(max_sets) {
    lattice_.layers.resize(problem.size() + 1);
    seen_.assign(problem.groups.size(), 0);
    wanted_.assign(problem.size(), 0);
  }

  Lattice run() {
    add_start();
    for (std::size_t count = 0; count < problem_.size(); ++count) {
      index_.erase(count);
      const std::vector<std::uint32_t> all = lattice_.layers[count];  // with those that the cut drops
      cut(lattice_.layers[count]);
      for (std::size_t i = 0; i < lattice_.layers[count].size(); ++i) expand(lattice_.layers[count][i], count);
      for (const std::uint32_t set : all) covered_[set] = {};
    }
    go_back();
    return std::move(lattice_);
  }

 private:
  void add_start() {
    Lattice::Set start;
    start.least_ns = 0;
    start.shares_ns = std::accumulate(problem_.share_ns.begin(), problem_.share_ns.end(), std::int64_t{0});
    for (const ValueId input : problem_.graph->inputs)
      if (!problem_.readers[input.index].empty()) lattice_.live.push_back(input.index);
    std::sort(lattice_.live.begin(), lattice_.live.end());
    start.live_count = static_cast<std::uint32_t>(lattice_.live.size());
    lattice_.sets.push_back(start);
    covered_.emplace_back();
    lattice_.layers[0].push_back(0);
  }

  /// Keeps the sets of a layer that cost least with what their rest must cost.
  void cut(std::vector<std::uint32_t>& layer) {
    if (layer.size() <= max_sets_) return;
    const auto estimate = [this](std::uint32_t s) { return lattice_.sets[s].least_ns + lattice_.sets[s].shares_ns; };
    std::stable_sort(layer.begin(), layer.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return estimate(a) < estimate(b); });
    lattice_.dropped_ns = std::min(lattice_.dropped_ns, estimate(layer[max_sets_]));
    layer.resize(max_sets_);
    std::sort(layer.begin(), layer.end());
  }

  void expand(std::uint32_t set, std::size_t count) {
    find_ready(covered_[set]);
    lattice_.sets[set].first_edge = static_cast<std::uint32_t>(lattice_.edges.size());
    for (const std::uint32_t group : ready_) {
      const std::uint32_t target = set_after(set, group, count);
      lattice_.edges.push_back({.group = group, .target = target});
    }
    lattice_.sets[set].last_edge = static_cast<std::uint32_t>(lattice_.edges.size());
  }

  std::uint32_t set_after(std::uint32_t from, std::uint32_t g, std::size_t count) {
    const Group& group = problem_.groups[g];
    after_ = covered_[from];
    after_.insert(group.covers);
    const std::size_t layer = count + group.covers.size();
    Index& index = index_.try_emplace(layer, covered_).first->second;
    const std::optional<std::uint32_t> found = index.find(after_);
    const std::uint32_t number = found ? *found : add_set(from, group, layer);
    if (!found) index.add(number);
    Lattice::Set& set = lattice_.sets[number];
    set.least_ns = std::min(set.least_ns, lattice_.sets[from].least_ns + group.least_ns);
    return number;
  }

  /// The set that covers what after_ does.
  std::uint32_t add_set(std::uint32_t from, const Group& group, std::size_t layer) {
    const auto number = static_cast<std::uint32_t>(lattice_.sets.size());
    Lattice::Set set{.first_live = lattice_.live.size(), .shares_ns = lattice_.sets[from].shares_ns};
    for (const std::uint32_t position : group.covers) set.shares_ns -= problem_.share_ns[position];
    const auto add_if_read = [&](std::uint32_t value) {
      const auto is_open = [&](std::uint32_t reader) { return !after_.contains(reader); };
      if (std::ranges::any_of(problem_.readers[value], is_open)) lattice_.live.push_back(value);
    };
    const Lattice::Set before = lattice_.sets[from];
    // By index: the pool grows meanwhile.
    for (std::size_t i = 0; i < before.live_count; ++i) add_if_read(lattice_.live[before.first_live + i]);
    for (const std::uint32_t value : group.alive) add_if_read(value);
    set.live_count = static_cast<std::uint32_t>(lattice_.live.size() - set.first_live);
    std::sort(lattice_.live.end() - set.live_count, lattice_.live.end());
    lattice_.layers[layer].push_back(number);
    lattice_.sets.push_back(set);
    covered_.push_back(after_);
    return number;
  }

  /// Fills ready_ with the groups that can run now and help to cover the first uncovered node.
  void find_ready(const PrefixSet& covered) {
    ++stamp_;
    ready_.clear();
    const std::uint32_t first = covered.first_missing();
    queue_ = {first};
    wanted_[first] = stamp_;
    while (!queue_.empty()) {
      const std::uint32_t position = queue_.back();
      queue_.pop_back();
      for (const auto& [begin, g] : groups_at_.at(position)) {
        if (begin < first) break;
        if (seen_[g] == stamp_) continue;
        seen_[g] = stamp_;
        const Group& group = problem_.groups[g];
        if (!covered.intersects(group.covers) && !wants_more(covered, group)) ready_.push_back(g);
      }
    }
    std::sort(ready_.begin(), ready_.end());
  }

  /// Whether the group waits for a node; those it waits for are queued.
  bool wants_more(const PrefixSet& covered, const Group& group) {
    bool waits = false;
    for (const std::uint32_t producer : group.producers) {
      if (covered.contains(producer)) continue;
      waits = true;
      if (wanted_[producer] == stamp_) continue;
      wanted_[producer] = stamp_;
      queue_.push_back(producer);
    }
    return waits;
  }

  void go_back() {
    for (const std::uint32_t set : lattice_.layers[problem_.size()]) lattice_.sets[set].rest_ns = 0;
    for (std::size_t count = problem_.size(); count-- > 0;)
      for (const std::uint32_t set : lattice_.layers[count]) {
        std::int64_t rest = kImpossible;
        for (const Lattice::Edge& edge : lattice_.edges_of(set))
          rest = std::min(rest, problem_.groups[edge.group].least_ns + lattice_.sets[edge.target].rest_ns);
        lattice_.sets[set].rest_ns = rest;
      }
  }

  const Problem& problem_;
  const GroupsAt groups_at_;
  const std::size_t max_sets_;
  Lattice lattice_;
  std::vector<PrefixSet> covered_;      ///< by set; empty again for those of layers that were expanded
  std::map<std::size_t, Index> index_;  ///< by number of covered nodes, of layers not yet expanded
  PrefixSet after_;                     ///< what a set covers that is looked for
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> seen_;    ///< by group: the stamp of the search that met it
  std::vector<std::uint32_t> wanted_;  ///< by position, likewise
  std::uint32_t stamp_ = 0;
};

}  // namespace

Lattice make_lattice(const Problem& problem, std::size_t max_sets_per_layer) {
  return LatticeBuilder(problem, max_sets_per_layer).run();
}

}  // namespace collage
