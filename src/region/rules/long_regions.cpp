// Long regions for engines, which run them faster than the sum of their parts.
#include <algorithm>
#include <bit>

#include "region/candidates.h"
#include "region/rules/enumerate.h"

namespace collage {
namespace {

Proposal range(const Graph& graph, std::size_t from, std::size_t to, std::string origin) {
  Proposal proposal{.nodes = NodeSet(graph.nodes.size()), .origin = std::move(origin)};
  for (std::size_t n = from; n < to; ++n) proposal.nodes.insert(n);
  return proposal;
}

/// A connected convex set that grows, with the rows of its members.
struct GrowingSet {
  NodeSet nodes;
  NodeSet after;
  NodeSet before;
};

GrowingSet joined(GrowingSet group, const GrowingSet& other) {
  group.nodes |= other.nodes;
  group.after |= other.after;
  group.before |= other.before;
  return group;
}

bool is_convex(const GrowingSet& group) { return (group.after & group.before).is_subset_of(group.nodes); }

/// Joins every taken node to the groups of its makers wherever the union stays convex.
std::vector<GrowingSet> connected_groups(const RuleContext& context, const std::vector<bool>& taken) {
  std::vector<GrowingSet> groups;
  std::vector<std::size_t> group_of(taken.size());
  const auto owner = [&](std::size_t n) {
    while (group_of[n] != n) n = group_of[n];
    return n;
  };
  groups.resize(taken.size());
  for (std::size_t n = 0; n < taken.size(); ++n) {
    group_of[n] = n;
    if (!taken[n]) continue;
    GrowingSet group{.nodes = node_set(context.graph, {n}),
                     .after = context.reach.descendants(n),
                     .before = context.reach.ancestors(n)};
    const Node& node = context.graph.nodes[n];
    for (const auto* ids : {&node.inputs, &node.captures})
      for (const ValueId id : *ids) {
        const NodeId maker = id.valid() ? context.uses.producer[id.index] : NodeId{};
        if (!maker.valid() || !taken[maker.index] || group.nodes.contains(maker.index)) continue;
        const std::size_t other = owner(maker.index);
        GrowingSet both = joined(group, groups[other]);
        if (!is_convex(both)) continue;
        group = std::move(both);
        groups[other] = {};
        group_of[other] = n;
      }
    groups[n] = std::move(group);
  }
  std::erase_if(groups, [](const GrowingSet& group) { return group.nodes.universe() == 0; });
  return groups;
}

/// Cuts [from, to) at narrow places into `parts` of about one length.
void add_splits(const Graph& graph, const std::vector<std::size_t>& places, std::size_t from, std::size_t to,
                std::size_t parts, std::vector<Proposal>& proposals) {
  std::size_t begin = from;
  for (std::size_t part = 1; part <= parts; ++part) {
    std::size_t end = from + (to - from) * part / parts;
    if (part < parts) {
      const auto place = std::lower_bound(places.begin(), places.end(), end);
      end = place == places.end() ? to : std::min(*place, to);
    }
    if (end > begin + 1 && end - begin < to - from) proposals.push_back(range(graph, begin, end, "split"));
    begin = std::max(begin, end);
  }
}

}  // namespace

std::vector<std::size_t> narrow_places(const Graph& graph, const Uses& uses, std::size_t max_crossing) {
  std::vector<std::ptrdiff_t> change(graph.nodes.size() + 2, 0);
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (!uses.producer[v].valid() || uses.consumers[v].empty()) continue;
    ++change[uses.producer[v].index + 1];
    --change[uses.consumers[v].back().index + 1];
  }
  std::vector<std::size_t> places = {0};
  std::ptrdiff_t live = 0;
  for (std::size_t p = 1; p < graph.nodes.size(); ++p) {
    live += change[p];
    if (live <= static_cast<std::ptrdiff_t>(max_crossing)) places.push_back(p);
  }
  places.push_back(graph.nodes.size());
  return places;
}

std::vector<Proposal> maximal(const MaximalForm& form, const RuleContext& context) {
  const Graph& graph = context.graph;
  std::vector<bool> taken;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) taken.push_back(takes(context, node_set(graph, {n})));
  const std::vector<std::size_t> places = narrow_places(graph, context.uses, 1);
  std::vector<Proposal> proposals;
  for (std::size_t from = 0; from < taken.size(); ++from) {
    std::size_t to = from;
    while (to < taken.size() && taken[to]) ++to;
    if (to > from + 1) {
      proposals.push_back(range(graph, from, to, "maximal"));
      // Beyond one part a node nothing is new, however many a user asks for.
      for (std::size_t parts = 2; parts <= std::min(form.max_splits, to - from) + 1; ++parts)
        add_splits(graph, places, from, to, parts, proposals);
    }
    from = to;
  }
  for (GrowingSet& group : connected_groups(context, taken))
    if (group.nodes.count() > 1) proposals.push_back({.nodes = std::move(group.nodes), .origin = "maximal connected"});
  return proposals;
}

std::vector<Proposal> ranges(const RangesForm& form, const RuleContext& context) {
  const std::vector<std::size_t> places = narrow_places(context.graph, context.uses, form.max_crossing);
  const std::size_t blocks = places.size() - 1;
  std::vector<Proposal> proposals;
  const auto add = [&](std::size_t from, std::size_t to) {
    if (places[to] < places[from] + 2 || proposals.size() >= form.max_ranges) return;
    proposals.push_back(range(context.graph, places[from], places[to], "range"));
  };
  add(0, blocks);
  for (std::size_t length = std::bit_floor(blocks); length >= 1; length /= 2) {
    add(0, length);
    if (length < blocks) add(blocks - length, blocks);
    for (std::size_t from = length; from + length <= blocks; from += length) add(from, from + length);
  }
  return proposals;
}

}  // namespace collage
