#include "search/genome_cover.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace collage {
namespace {

NodeSet range_of(std::size_t universe, std::size_t begin, std::size_t end) {
  NodeSet nodes(universe);
  for (std::size_t n = begin; n < end; ++n) nodes.insert(n);
  return nodes;
}

/// Per node the engine's time for it alone; where it has none, the least of anybody's; 0 where nobody has one.
std::vector<std::int64_t> parts_of(const Level2Problem& problem, const std::string& engine) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::size_t n = problem.graph->nodes.size();
  std::vector<std::int64_t> own(n, kNone);
  std::vector<std::int64_t> any(n, kNone);
  for (const SearchCandidate& candidate : problem.candidates) {
    const auto ns = nanoseconds_of(candidate.cost);
    if (!ns || candidate.region->nodes.count() != 1) continue;
    const std::size_t node = candidate.region->nodes.next();
    any[node] = std::min(any[node], *ns);
    if (candidate.backend == engine) own[node] = std::min(own[node], *ns);
  }
  for (std::size_t i = 0; i < n; ++i) own[i] = own[i] != kNone ? own[i] : any[i] != kNone ? any[i] : 0;
  return own;
}

/// Regions count as much alike when they share at least this part of their union.
constexpr double kMuchLike = 0.5;

double likeness(const NodeSet& a, const NodeSet& b) {
  return static_cast<double>((a & b).count()) / static_cast<double>((a | b).count());
}

}  // namespace

GenomeDecoder::GenomeDecoder(Level2Problem problem)
    : problem_(std::move(problem)), reach_(*problem_.graph, *problem_.uses) {
  for (const std::string& engine : problem_.engines) part_ns_.emplace(engine, parts_of(problem_, engine));
  for (const SearchCandidate& candidate : problem_.candidates)
    if (const auto ns = nanoseconds_of(candidate.cost)) note(candidate.backend, candidate.region->nodes, *ns);
}

void GenomeDecoder::note(const std::string& engine, const NodeSet& nodes, std::int64_t ns) {
  if (!part_ns_.contains(engine) || nodes.count() < 2) return;
  std::vector<Known>& known = known_[engine];
  const auto found = std::ranges::find(known, nodes, &Known::nodes);
  if (found == known.end())
    known.push_back({nodes, ns, sum_of_parts(engine, nodes)});
  else
    found->ns = std::min(found->ns, ns);
}

void GenomeDecoder::learn(const Cover& cover, const Evaluation& evaluation) {
  for (std::size_t s = 0; s < std::min(cover.steps.size(), evaluation.step_ns.size()); ++s)
    if (const auto* const kernel = std::get_if<CoverKernel>(&cover.steps[s].work))
      note(cover.steps[s].backend, kernel->region.nodes, evaluation.step_ns[s]);
}

std::int64_t GenomeDecoder::sum_of_parts(const std::string& engine, const NodeSet& nodes) const {
  std::int64_t sum = 0;
  const std::vector<std::int64_t>& parts = part_ns_.at(engine);
  for (const std::size_t n : nodes.members()) sum += parts[n];
  return sum;
}

std::int64_t GenomeDecoder::predicted_ns(const std::string& engine, const Region& region) const {
  const std::int64_t parts = sum_of_parts(engine, region.nodes);
  const auto found = known_.find(engine);
  if (found == known_.end()) return parts;
  double like_most = kMuchLike;
  std::int64_t ns = 0;
  std::int64_t parts_ns = 0;
  for (const Known& known : found->second) {
    if (known.nodes == region.nodes) return known.ns;
    const double like = likeness(known.nodes, region.nodes);
    if (like >= like_most) {
      like_most = like;
      ns = known.ns;
      parts_ns = known.parts_ns;
    }
  }
  if (parts_ns == 0)
    for (const Known& known : found->second) {
      ns += known.ns;
      parts_ns += known.parts_ns;
    }
  if (parts_ns == 0) return parts;
  return static_cast<std::int64_t>(static_cast<double>(parts) * static_cast<double>(ns) /
                                   static_cast<double>(parts_ns));
}

Cost GenomeDecoder::cost_of(const std::string& engine, const EngineRegion& taken) const {
  for (const SearchCandidate& candidate : problem_.candidates)
    if (candidate.backend == engine && candidate.variant == taken.variant && *candidate.region == taken.region)
      return candidate.cost;
  return Estimated{predicted_ns(engine, taken.region)};
}

const NodeSet& GenomeDecoder::refused_by(const std::string& engine) {
  const auto [entry, is_new] = refused_.try_emplace(engine, problem_.graph->nodes.size());
  if (!is_new) return entry->second;
  for (std::size_t n = 0; n < problem_.graph->nodes.size(); ++n) {
    const NodeSet single = range_of(problem_.graph->nodes.size(), n, n + 1);
    if (!problem_.take(engine, make_region(*problem_.graph, *problem_.uses, single))) entry->second.insert(n);
  }
  return entry->second;
}

GenomeDecoder::Taken GenomeDecoder::ask(const Range& range) {
  const auto no = [](std::string detail) {
    return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = std::move(detail)});
  };
  const auto ask_for = [&](const NodeSet& nodes) -> Taken {
    if (nodes.empty()) return no("no node it takes");
    if (!reach_.is_convex(nodes)) return no("a node it refuses lies on the way");
    Region region = make_region(*problem_.graph, *problem_.uses, nodes);
    if (!has_passed_border(*problem_.graph, *problem_.uses, region))
      return no("a value of unknown shape at its border");
    auto variant = problem_.take(range.engine, region);
    if (!variant) return std::unexpected(std::move(variant.error()));
    return EngineRegion{.region = std::move(region), .variant = std::move(*variant)};
  };
  const NodeSet all = range_of(problem_.graph->nodes.size(), range.begin, range.end);
  Taken whole = ask_for(all);
  if (whole || !all.intersects(refused_by(range.engine))) return whole;
  return ask_for(all - refused_by(range.engine));
}

const GenomeDecoder::Taken& GenomeDecoder::region_of(const std::string& engine, std::size_t begin, std::size_t end) {
  const Range range{engine, begin, end};
  const auto found = taken_.find(range);
  return found != taken_.end() ? found->second : taken_.emplace(range, ask(range)).first->second;
}

std::vector<SearchCandidate> GenomeDecoder::left_to_level1(const Genome& genome, const NodeSet& taken) const {
  const std::size_t n = problem_.graph->nodes.size();
  std::map<std::string, NodeSet> kept;  // by backend: nodes nobody else may run
  for (const Segment& segment : genome.segments) {
    if (segment.owner.kind != OwnerKind::kOnly) continue;
    const NodeSet nodes = range_of(n, segment.begin, segment.end);
    NodeSet& mine = kept.try_emplace(segment.owner.backend, n).first->second;
    for (const SearchCandidate& candidate : problem_.candidates)
      if (candidate.backend == segment.owner.backend && !candidate.region->nodes.intersects(taken))
        mine |= candidate.region->nodes & nodes;
  }
  std::vector<SearchCandidate> left;
  for (const SearchCandidate& candidate : problem_.candidates) {
    const NodeSet& nodes = candidate.region->nodes;
    const bool allowed = !nodes.intersects(taken) && std::ranges::all_of(kept, [&](const auto& entry) {
      return entry.first == candidate.backend || !nodes.intersects(entry.second);
    });
    if (allowed) left.push_back(candidate);
  }
  return left;
}

Result<Cover> GenomeDecoder::cover_of(const Genome& genome) {
  NodeSet taken(problem_.graph->nodes.size());
  std::vector<SearchCandidate> regions;
  for (const Segment& segment : genome.segments) {
    if (segment.owner.kind != OwnerKind::kRegion) continue;
    const Taken& region = region_of(segment.owner.backend, segment.begin, segment.end);
    if (!region)
      return fail(ExitCode::kUnsupported, "search/refused-segment",
                  fmt::format("nodes {} to {}", segment.begin, segment.end - 1),
                  segment.owner.backend + " refuses: " + region.error().detail, "a segment that its engine takes");
    taken |= region->region.nodes;
    regions.push_back({.region = &region->region,
                       .backend = segment.owner.backend,
                       .variant = region->variant,
                       .cost = cost_of(segment.owner.backend, *region)});
  }
  std::vector<SearchCandidate> candidates = left_to_level1(genome, taken);
  candidates.insert(candidates.end(), regions.begin(), regions.end());
  COLLAGE_TRY(SearchResult result,
              choose_cover(*problem_.graph, *problem_.uses, candidates, problem_.conversions, problem_.search));
  return std::move(result.cover);
}

}  // namespace collage
