#include "region/check_region.h"

#include <fmt/format.h>

namespace collage {
namespace {

using Check = std::expected<void, RegionFault>;

std::unexpected<RegionFault> fault(RegionFaultReason reason, std::string detail) {
  return std::unexpected(RegionFault{.reason = reason, .detail = std::move(detail)});
}

/// `saw` within `most`, where 0 allows anything.
bool exceeds(std::size_t saw, std::size_t most) { return most != 0 && saw > most; }

Check check_bodies(const Graph& graph, const Region& region) {
  for (const std::size_t n : region.nodes.members())
    if (!bodies_of(graph.nodes[n]).empty())
      return fault(RegionFaultReason::kBody, graph.nodes[n].name + " holds a body");
  return {};
}

Check check_matches(const Region& region, std::span<const Match> matches) {
  NodeSet labelled(region.nodes.universe());
  for (const Match& match : matches) {
    if (!match.nodes.is_subset_of(region.nodes))
      return fault(RegionFaultReason::kMatches, fmt::format("{} {} leaves it", match.label, to_string(match.nodes)));
    if (match.nodes.intersects(labelled))
      return fault(RegionFaultReason::kMatches,
                   fmt::format("{} overlaps another match in {}", match.label, to_string(match.nodes & labelled)));
    labelled |= match.nodes;
  }
  return {};
}

}  // namespace

Check check_region(const Graph& graph, const Uses& uses, const Reachability& reach, const Region& region,
                   const RegionLimits& limits, std::span<const Match> matches) {
  if (limits.max_nodes != 0)
    if (const std::size_t nodes = region.nodes.count(); exceeds(nodes, limits.max_nodes))
      return fault(RegionFaultReason::kNodes, fmt::format("{} nodes, at most {}", nodes, limits.max_nodes));
  if (exceeds(region.outputs.size(), limits.max_outputs))
    return fault(RegionFaultReason::kOutputs,
                 fmt::format("{} values leave it, at most {}", region.outputs.size(), limits.max_outputs));
  if (limits.max_depth != 0)
    if (const std::size_t depth = depth_of(graph, uses, region.nodes); exceeds(depth, limits.max_depth))
      return fault(RegionFaultReason::kDepth, fmt::format("{} nodes deep, at most {}", depth, limits.max_depth));
  if (!limits.allow_bodies)
    if (auto verdict = check_bodies(graph, region); !verdict) return verdict;
  if (!limits.allow_taps)
    if (const std::vector<ValueId> taps = taps_of(uses, region); !taps.empty())
      return fault(RegionFaultReason::kTaps, graph.value(taps.front()).name + " is read inside and outside");
  if (auto verdict = check_matches(region, matches); !verdict) return verdict;
  // A repeated node gives nothing to anybody, so no path can come back through it.
  if (!reach.is_convex(region.covered()))
    return fault(RegionFaultReason::kConvexity, "a path leaves it and comes back");
  return {};
}

std::string to_text(const RegionLimits& limits) {
  std::string text;
  const auto add = [&text](std::string_view part) { text += (text.empty() ? "" : ", ") + std::string(part); };
  if (limits.max_nodes != 0) add(fmt::format("nodes<={}", limits.max_nodes));
  if (limits.max_outputs != 0) add(fmt::format("outputs<={}", limits.max_outputs));
  if (limits.max_depth != 0) add(fmt::format("depth<={}", limits.max_depth));
  if (!limits.allow_bodies) add("no bodies");
  if (!limits.allow_taps) add("no taps");
  return text.empty() ? "anything" : text;
}

}  // namespace collage
