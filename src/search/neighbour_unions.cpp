#include "search/neighbour_unions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace collage {
namespace {

constexpr std::size_t kNoMaker = ~std::size_t{0};

/// Steps that may become one, with all that waits for them and all that they wait for.
struct Union {
  BitSet steps;
  BitSet steps_before;
  BitSet steps_after;
  NodeSet nodes;
  NodeSet covered;
  NodeSet nodes_before;
  NodeSet nodes_after;

  [[nodiscard]] bool is_convex() const {
    return (steps_before & steps_after).is_subset_of(steps) && (nodes_before & nodes_after).is_subset_of(covered);
  }
};

class Finder {
 public:
  Finder(const Graph& graph, const Uses& uses, const Cover& cover) : graph_(graph), uses_(uses), reach_(graph, uses) {
    for (const CoverStep& step : cover.steps)
      if (const Region* const region = chosen_region(step)) {
        steps_.push_back(&step);
        regions_.push_back(region);
        repeats_ |= !region->repeated.empty();
      }
    link_steps();
  }

  std::vector<NeighbourUnion> run() {
    std::vector<Union> grown;
    for (std::size_t first = 0; first < steps_.size(); ++first)
      for (const std::size_t second : readers_[first]) {
        if (!have_one_owner(first, second)) continue;
        const Union pair = with(of_step(first), second);
        if (!is_legal(pair)) continue;
        add(pair, first);
        const auto holds_pair = [&](const Union& other) { return pair.steps.is_subset_of(other.steps); };
        if (std::ranges::any_of(grown, holds_pair)) continue;
        grown.push_back(grow(pair));
        add(grown.back(), first);
      }
    return in_order();
  }

 private:
  void link_steps() {
    const std::size_t count = steps_.size();
    std::vector<std::size_t> maker(graph_.values.size(), kNoMaker);
    before_.assign(count, BitSet(count));
    after_.assign(count, BitSet(count));
    makers_.resize(count);
    readers_.resize(count);
    for (std::size_t s = 0; s < count; ++s) {
      std::set<std::size_t> makers;
      for (const ValueId input : regions_[s]->inputs)
        if (maker[input.index] != kNoMaker) makers.insert(maker[input.index]);
      for (const std::size_t m : makers) {
        before_[s] |= before_[m];
        before_[s].insert(m);
        makers_[s].push_back(m);
        readers_[m].push_back(s);
      }
      for (const ValueId output : regions_[s]->outputs) maker[output.index] = s;
    }
    for (std::size_t s = count; s-- > 0;)
      for (const std::size_t reader : readers_[s]) {
        after_[s] |= after_[reader];
        after_[s].insert(reader);
      }
  }

  bool have_one_owner(std::size_t a, std::size_t b) const {
    const CoverStep& first = *steps_[a];
    const CoverStep& second = *steps_[b];
    return is_kernel(first) && is_kernel(second) && first.backend == second.backend &&
           location_of(first) == location_of(second);
  }

  Union of_step(std::size_t step) const {
    const BitSet no_steps(steps_.size());
    const NodeSet no_nodes(graph_.nodes.size());
    return with({no_steps, no_steps, no_steps, no_nodes, no_nodes, no_nodes, no_nodes}, step);
  }

  Union with(Union all, std::size_t step) const {
    all.steps.insert(step);
    all.steps_before |= before_[step];
    all.steps_after |= after_[step];
    const NodeSet covered = regions_[step]->covered();
    all.nodes |= regions_[step]->nodes;
    all.covered |= covered;
    for (std::size_t n = covered.next(); n < covered.universe(); n = covered.next(n + 1)) {
      all.nodes_before |= reach_.ancestors(n);
      all.nodes_after |= reach_.descendants(n);
    }
    return all;
  }

  bool is_legal(const Union& all) const { return all.is_convex() && (!repeats_ || gives_what_others_read(all)); }

  /// A value whose readers are all inside may still be read outside, by a step that repeats one of them.
  bool gives_what_others_read(const Union& all) const {
    const Region region = region_of(all);
    const auto is_kept = [&](ValueId id) {
      const NodeId producer = uses_.producer[id.index];
      return producer.valid() && all.covered.contains(producer.index) &&
             std::ranges::find(region.outputs, id) == region.outputs.end();
    };
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (!all.steps.contains(s) && std::ranges::any_of(regions_[s]->inputs, is_kept)) return false;
    return true;
  }

  Region region_of(const Union& all) const { return make_region(graph_, uses_, all.nodes, all.nodes - all.covered); }

  Union grow(Union all) const {
    std::set<std::size_t> touching;
    for (const std::size_t step : all.steps.members()) add_touching(all, step, touching);
    while (const auto next = first_legal(all, touching)) {
      all = with(std::move(all), *next);
      touching.erase(*next);
      add_touching(all, *next, touching);
    }
    return all;
  }

  void add_touching(const Union& all, std::size_t step, std::set<std::size_t>& touching) const {
    for (const auto* list : {&makers_[step], &readers_[step]})
      for (const std::size_t other : *list)
        if (have_one_owner(step, other) && !all.steps.contains(other)) touching.insert(other);
  }

  std::optional<std::size_t> first_legal(const Union& all, const std::set<std::size_t>& touching) const {
    for (const std::size_t step : touching)
      if (is_legal(with(all, step))) return step;
    return std::nullopt;
  }

  void add(const Union& all, std::size_t owner) {
    found_.push_back(
        {.backend = steps_[owner]->backend, .location = location_of(*steps_[owner]), .region = region_of(all)});
  }

  std::vector<NeighbourUnion> in_order() {
    const auto before = [](const NeighbourUnion& a, const NeighbourUnion& b) {
      const auto key = [](const NeighbourUnion& u) {
        return std::tie(u.backend, u.location, u.region.nodes, u.region.repeated);
      };
      return key(a) < key(b);
    };
    std::sort(found_.begin(), found_.end(), before);
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

  const Graph& graph_;
  const Uses& uses_;
  Reachability reach_;
  std::vector<const CoverStep*> steps_;  ///< those that run nodes, views included
  std::vector<const Region*> regions_;   ///< of these
  bool repeats_ = false;                 ///< some step does
  std::vector<std::vector<std::size_t>> makers_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<BitSet> before_;
  std::vector<BitSet> after_;
  std::vector<NeighbourUnion> found_;
};

}  // namespace

std::vector<NeighbourUnion> neighbour_unions(const Graph& graph, const Uses& uses, const Cover& cover) {
  return Finder(graph, uses, cover).run();
}

}  // namespace collage
