#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "search/search.h"

namespace collage {
namespace {

using FormatIndex = std::uint32_t;

/// One format of one value that exists in memory; ordered by value, then format.
struct Materialised {
  std::uint32_t value;
  FormatIndex format;
  auto operator<=>(const Materialised&) const = default;
};

struct ConversionUse {
  ValueId value;
  FormatIndex from;
  FormatIndex to;
};

/// All candidates of one region.
struct RegionGroup {
  const Region* region;
  NodeSet waits_for;  ///< every node outside that must run before
  std::vector<std::uint32_t> candidates;
};

struct State {
  std::vector<Materialised> materialised;  ///< sorted
  std::int64_t cost = 0;
  std::int32_t steps = 0;
  std::int32_t parent = -1;
  std::uint32_t candidate = 0;
  std::vector<ConversionUse> before;  ///< conversions the step needs
  std::vector<ConversionUse> after;   ///< conversions to plain of graph outputs
};

struct ByHash {
  std::size_t operator()(const NodeSet& set) const { return set.hash(); }
};
/// States of one number of covered nodes.
using Layer = std::unordered_map<NodeSet, std::vector<std::int32_t>, ByHash>;

constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::max() / 4;

class CoverSearch {
 public:
  CoverSearch(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
              const ConversionTable& conversions, const SearchOptions& options)
      : graph_(graph), uses_(uses), candidates_(candidates), conversions_(conversions), options_(options) {}

  Result<SearchResult> run() {
    prepare();
    COLLAGE_TRY_VOID(check_coverable());
    const std::size_t n = graph_.nodes.size();
    layers_.resize(n + 1);
    add_start();
    for (std::size_t covered = 0; covered < n; ++covered) {
      for (const auto& [set, states] : pruned(std::move(layers_[covered]))) expand(set, states);
      layers_[covered].clear();
    }
    return finish();
  }

 private:
  // ---- preparation -----------------------------------------------------------------------------------------
  void prepare() {
    const std::size_t n = graph_.nodes.size();
    const Reachability reach(graph_, uses_);
    plain_ = intern(plain());
    std::map<NodeSet, std::uint32_t> index;
    groups_by_node_.resize(n);
    for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
      const SearchCandidate& candidate = candidates_[c];
      const auto [found, added] = index.emplace(candidate.region->nodes, static_cast<std::uint32_t>(groups_.size()));
      if (added) add_group(*candidate.region, reach);
      groups_[found->second].candidates.push_back(c);
      std::vector<FormatIndex> in;
      std::vector<FormatIndex> out;
      for (const Format& format : candidate.variant.input_formats) in.push_back(intern(format));
      for (const Format& format : candidate.variant.output_formats) out.push_back(intern(format));
      input_formats_.push_back(std::move(in));
      output_formats_.push_back(std::move(out));
      const bool is_view = candidate.variant.name == "view";
      costs_.push_back(nanoseconds_of(candidate.cost).value_or(kImpossible) + (is_view ? 0 : options_.launch_ns));
    }
    prepare_shares(n);
  }

  void add_group(const Region& region, const Reachability& reach) {
    NodeSet before(graph_.nodes.size());
    for (std::size_t node : region.nodes.members()) {
      before |= reach.ancestors(node);
      groups_by_node_[node].push_back(static_cast<std::uint32_t>(groups_.size()));
    }
    before -= region.nodes;
    groups_.push_back({.region = &region, .waits_for = std::move(before), .candidates = {}});
  }

  /// The least share of any candidate's cost a node can be charged: admissible for the rest of the way.
  void prepare_shares(std::size_t n) {
    share_.assign(n, kImpossible);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const std::vector<std::size_t> nodes = candidates_[c].region->nodes.members();
      for (std::size_t node : nodes)
        share_[node] = std::min(share_[node], costs_[c] / static_cast<std::int64_t>(nodes.size()));
    }
  }

  Result<void> check_coverable() const {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (share_[n] >= kImpossible)
        return fail(ExitCode::kUnsupported, "search/uncoverable", "node " + graph_.nodes[n].name,
                    "operator " + graph_.nodes[n].op_type + " that no chosen backend could run",
                    "at least one usable candidate for every node");
    return {};
  }

  FormatIndex intern(const Format& format) {
    const auto [found, added] = format_index_.emplace(format, static_cast<FormatIndex>(formats_.size()));
    if (added) formats_.push_back(format);
    return found->second;
  }

  void add_start() {
    State start;
    for (ValueId input : graph_.inputs)
      if (!uses_.consumers[input.index].empty()) start.materialised.push_back({input.index, plain_});
    std::sort(start.materialised.begin(), start.materialised.end());
    layers_[0][NodeSet(graph_.nodes.size())].push_back(store(std::move(start)));
  }

  std::int32_t store(State state) {
    states_.push_back(std::move(state));
    return static_cast<std::int32_t>(states_.size()) - 1;
  }

  // ---- conversions -----------------------------------------------------------------------------------------
  const std::optional<ConversionChoice>& conversion(std::uint32_t value, FormatIndex from, FormatIndex to) {
    const std::uint64_t key = (std::uint64_t{value} << 32) | (std::uint64_t{from} << 16) | to;
    const auto found = conversion_cache_.find(key);
    if (found != conversion_cache_.end()) return found->second;
    return conversion_cache_.emplace(key, conversions_(ValueId{value}, formats_[from], formats_[to])).first->second;
  }

  std::int64_t conversion_ns(std::uint32_t value, FormatIndex from, FormatIndex to) {
    const auto& choice = conversion(value, from, to);
    if (!choice) return kImpossible;
    const std::int64_t ns = nanoseconds_of(choice->cost).value_or(kImpossible);
    return ns == 0 ? 0 : ns + options_.launch_ns;
  }

  /// The cheapest way to get (value, to) from what is materialised.
  std::pair<std::int64_t, FormatIndex> cheapest(const std::vector<Materialised>& from, std::uint32_t value,
                                                FormatIndex to) {
    std::pair<std::int64_t, FormatIndex> best = {kImpossible, 0};
    for (auto m = std::lower_bound(from.begin(), from.end(), Materialised{value, 0});
         m != from.end() && m->value == value; ++m)
      best = std::min(best, {conversion_ns(value, m->format, to), m->format});
    return best;
  }

  // ---- expansion -------------------------------------------------------------------------------------------
  /// Groups that can run now and help to cover the first uncovered node.
  std::vector<std::uint32_t> ready_groups(const NodeSet& covered) const {
    const std::size_t n = graph_.nodes.size();
    std::size_t first = 0;
    while (covered.contains(first)) ++first;
    NodeSet wanted(n);
    wanted.insert(first);
    std::vector<std::size_t> queue = {first};
    std::vector<std::uint32_t> ready;
    std::vector<bool> seen(groups_.size(), false);
    while (!queue.empty()) {
      const std::size_t node = queue.back();
      queue.pop_back();
      for (std::uint32_t g : groups_by_node_[node]) {
        if (seen[g] || groups_[g].region->nodes.intersects(covered)) continue;
        seen[g] = true;
        const NodeSet missing = groups_[g].waits_for - covered;
        if (missing.empty()) ready.push_back(g);
        for (std::size_t m : (missing - wanted).members()) {
          wanted.insert(m);
          queue.push_back(m);
        }
      }
    }
    std::sort(ready.begin(), ready.end());
    return ready;
  }

  void expand(const NodeSet& covered, const std::vector<std::int32_t>& states) {
    for (std::uint32_t g : ready_groups(covered)) {
      const RegionGroup& group = groups_[g];
      const NodeSet next = covered | group.region->nodes;
      const std::size_t count = next.count();
      std::vector<std::int32_t>& target = layers_[count][next];
      for (std::int32_t s : states)
        for (std::uint32_t c : group.candidates) step(s, c, next, target);
    }
  }

  void step(std::int32_t from, std::uint32_t c, const NodeSet& next, std::vector<std::int32_t>& target) {
    const Region& region = *candidates_[c].region;
    State state;
    state.materialised = states_[static_cast<std::size_t>(from)].materialised;
    state.cost = states_[static_cast<std::size_t>(from)].cost + costs_[c];
    state.steps = states_[static_cast<std::size_t>(from)].steps + 1;
    state.parent = from;
    state.candidate = c;
    for (std::size_t i = 0; i < region.inputs.size(); ++i)
      if (!require(state, region.inputs[i], input_formats_[c][i], state.before)) return;
    for (std::size_t o = 0; o < region.outputs.size(); ++o)
      insert(state.materialised, {region.outputs[o].index, output_formats_[c][o]});
    for (ValueId output : region.outputs)
      if (uses_.is_output[output.index] && !require(state, output, plain_, state.after)) return;
    drop_dead(state.materialised, next);
    add_if_not_dominated(std::move(state), target);
  }

  /// Makes (value, format) exist, converting when needed; false when there is no way.
  bool require(State& state, ValueId value, FormatIndex format, std::vector<ConversionUse>& conversions) {
    const Materialised wanted{value.index, format};
    if (std::binary_search(state.materialised.begin(), state.materialised.end(), wanted)) return true;
    const auto [ns, source] = cheapest(state.materialised, value.index, format);
    if (ns >= kImpossible) return false;
    state.cost += ns;
    state.steps += ns > 0 ? 1 : 0;
    conversions.push_back({value, source, format});
    insert(state.materialised, wanted);
    return true;
  }

  static void insert(std::vector<Materialised>& set, Materialised item) {
    const auto at = std::lower_bound(set.begin(), set.end(), item);
    if (at == set.end() || *at != item) set.insert(at, item);
  }

  void drop_dead(std::vector<Materialised>& set, const NodeSet& covered) const {
    std::erase_if(set, [&](const Materialised& m) {
      const auto& readers = uses_.consumers[m.value];
      return std::all_of(readers.begin(), readers.end(), [&](NodeId r) { return covered.contains(r.index); });
    });
  }

  // ---- dominance -------------------------------------------------------------------------------------------
  /// a's cost plus what it takes to have everything b has.
  std::int64_t cost_to_match(const State& a, const State& b) {
    std::int64_t cost = a.cost;
    for (const Materialised& m : b.materialised) {
      if (std::binary_search(a.materialised.begin(), a.materialised.end(), m)) continue;
      cost += cheapest(a.materialised, m.value, m.format).first;
      if (cost > b.cost) break;
    }
    return cost;
  }

  bool dominates(const State& a, const State& b) {
    const std::int64_t cost = cost_to_match(a, b);
    return cost < b.cost || (cost == b.cost && a.steps <= b.steps);
  }

  void add_if_not_dominated(State state, std::vector<std::int32_t>& target) {
    for (std::int32_t other : target)
      if (dominates(states_[static_cast<std::size_t>(other)], state)) return;
    std::erase_if(target,
                  [&](std::int32_t other) { return dominates(state, states_[static_cast<std::size_t>(other)]); });
    target.push_back(store(std::move(state)));
  }

  /// The layer in canonical order, cut to max_states when it is larger.
  std::vector<std::pair<NodeSet, std::vector<std::int32_t>>> pruned(Layer layer) {
    std::vector<std::pair<NodeSet, std::vector<std::int32_t>>> sets(layer.begin(), layer.end());
    std::erase_if(sets, [](const auto& entry) { return entry.second.empty(); });
    std::sort(sets.begin(), sets.end());
    std::size_t total = 0;
    for (const auto& entry : sets) total += entry.second.size();
    expanded_ += total;
    if (total <= options_.max_states) return sets;
    exact_ = false;
    struct Ranked {
      std::int64_t estimate;
      std::size_t set;
      std::int32_t state;
    };
    std::vector<Ranked> ranked;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::int64_t rest = least_rest(sets[s].first);
      for (std::int32_t state : sets[s].second)
        ranked.push_back({states_[static_cast<std::size_t>(state)].cost + rest, s, state});
      sets[s].second.clear();
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.estimate < b.estimate; });
    ranked.resize(options_.max_states);
    for (const Ranked& kept : ranked) sets[kept.set].second.push_back(kept.state);
    std::erase_if(sets, [](const auto& entry) { return entry.second.empty(); });
    return sets;
  }

  std::int64_t least_rest(const NodeSet& covered) const {
    std::int64_t rest = 0;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!covered.contains(n)) rest += share_[n];
    return rest;
  }

  // ---- result ----------------------------------------------------------------------------------------------
  Result<SearchResult> finish() {
    std::int32_t best = -1;
    for (const auto& [set, states] : layers_[graph_.nodes.size()])
      for (std::int32_t s : states)
        if (best < 0 || std::pair(at(s).cost, at(s).steps) < std::pair(at(best).cost, at(best).steps)) best = s;
    if (best < 0)
      return fail(ExitCode::kUnsupported, "search/no-cover", "graph " + graph_.name,
                  "candidates for every node but no legal schedule with the conversions at hand",
                  "a conversion between the formats of neighbouring candidates");
    SearchResult result;
    result.exact = exact_;
    result.states = expanded_;
    result.cover.cost_ns = at(best).cost;
    result.bound_ns = exact_ ? at(best).cost : std::min(at(best).cost, least_rest(NodeSet(graph_.nodes.size())));
    std::vector<std::int32_t> path;
    for (std::int32_t s = best; at(s).parent >= 0; s = at(s).parent) path.push_back(s);
    for (auto s = path.rbegin(); s != path.rend(); ++s) append(result.cover, at(*s));
    return result;
  }

  const State& at(std::int32_t index) const { return states_[static_cast<std::size_t>(index)]; }

  void append(Cover& cover, const State& state) {
    for (const ConversionUse& use : state.before) append_conversion(cover, use);
    const SearchCandidate& candidate = candidates_[state.candidate];
    CoverStep step;
    step.kind = candidate.variant.name == "view" ? StepKind::kView : StepKind::kKernel;
    step.backend = candidate.backend;
    step.region = *candidate.region;
    step.variant = candidate.variant;
    step.cost = candidate.cost;
    step.runner_up = runner_up(state.candidate);
    cover.steps.push_back(std::move(step));
    for (const ConversionUse& use : state.after) append_conversion(cover, use);
  }

  void append_conversion(Cover& cover, const ConversionUse& use) {
    const auto& choice = conversion(use.value.index, use.from, use.to);
    CoverStep step;
    step.kind = nanoseconds_of(choice->cost) == 0 ? StepKind::kView : StepKind::kConvert;
    step.backend = choice->backend;
    step.value = use.value;
    step.from = formats_[use.from];
    step.to = formats_[use.to];
    step.cost = choice->cost;
    cover.steps.push_back(std::move(step));
  }

  /// The best other candidate of the same region and how much slower it is alone.
  std::string runner_up(std::uint32_t chosen) const {
    std::optional<std::uint32_t> second;
    for (const RegionGroup& group : groups_) {
      if (group.region->nodes != candidates_[chosen].region->nodes) continue;
      for (std::uint32_t c : group.candidates)
        if (c != chosen && (!second || costs_[c] < costs_[*second])) second = c;
    }
    if (!second || costs_[chosen] == 0) return {};
    const double margin = static_cast<double>(costs_[*second]) / static_cast<double>(costs_[chosen]) - 1.0;
    return fmt::format("{}/{} {:+.0f}%", candidates_[*second].backend, candidates_[*second].variant.name, margin * 100);
  }

  const Graph& graph_;
  const Uses& uses_;
  std::span<const SearchCandidate> candidates_;
  const ConversionTable& conversions_;
  const SearchOptions& options_;

  std::map<Format, FormatIndex> format_index_;
  std::vector<Format> formats_;
  FormatIndex plain_ = 0;
  std::vector<RegionGroup> groups_;
  std::vector<std::vector<std::uint32_t>> groups_by_node_;
  std::vector<std::vector<FormatIndex>> input_formats_;   ///< by candidate
  std::vector<std::vector<FormatIndex>> output_formats_;  ///< by candidate
  std::vector<std::int64_t> costs_;                       ///< by candidate, launch included
  std::vector<std::int64_t> share_;                       ///< by node
  std::unordered_map<std::uint64_t, std::optional<ConversionChoice>> conversion_cache_;
  std::deque<State> states_;
  std::vector<Layer> layers_;
  bool exact_ = true;
  std::size_t expanded_ = 0;
};

}  // namespace

Result<SearchResult> choose_cover(const Graph& graph, const Uses& uses, std::span<const SearchCandidate> candidates,
                                  const ConversionTable& conversions, const SearchOptions& options) {
  return CoverSearch(graph, uses, candidates, conversions, options).run();
}

}  // namespace collage
