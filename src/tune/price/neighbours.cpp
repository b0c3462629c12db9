#include "tune/price/neighbours.h"

#include <algorithm>
#include <set>
#include <utility>

#include "search/neighbour_unions.h"

namespace collage {
namespace {

using Asked = std::set<std::pair<NodeSet, std::string>>;

Asked asked_about(const CandidatePool& pool) {
  Asked asked;
  for (const Candidate& candidate : pool.candidates)
    asked.emplace(pool.regions[candidate.region].nodes, candidate.backend);
  for (const RegionRefusal& refusal : pool.refusals) asked.emplace(pool.regions[refusal.region].nodes, refusal.backend);
  return asked;
}

}  // namespace

CandidatePool neighbour_candidates(const Graph& graph, const Uses& uses, const Cover& cover,
                                   std::span<const Proposer> proposers, const MayRun& may_run,
                                   const CandidatePool& known, std::size_t most) {
  std::vector<NeighbourUnion> unions = neighbour_unions(graph, uses, cover);
  std::ranges::stable_sort(unions, {}, [](const NeighbourUnion& one) { return one.region.nodes.count(); });
  const Asked asked = asked_about(known);
  CandidatePool fresh;
  for (NeighbourUnion& one : unions) {
    if (fresh.candidates.size() >= most) break;
    if (asked.contains({one.region.nodes, one.backend}) || !may_run(one.region.nodes, one.backend)) continue;
    const auto proposer = std::ranges::find(proposers, one.backend, &Proposer::backend);
    if (proposer == proposers.end() || !has_passed_border(graph, uses, one.region)) continue;
    const auto index = static_cast<std::uint32_t>(fresh.regions.size());
    auto variants = proposer->support(one.region);
    fresh.regions.push_back(std::move(one.region));
    if (!variants) {
      fresh.refusals.push_back({.region = index, .backend = one.backend, .refusal = std::move(variants.error())});
      continue;
    }
    for (Variant& variant : *variants)
      fresh.candidates.push_back({.region = index,
                                  .backend = one.backend,
                                  .variant = std::move(variant),
                                  .matches = {},
                                  .origin = "neighbours"});
  }
  return fresh;
}

void append(CandidatePool fresh, CandidatePool& pool) {
  const auto first = static_cast<std::uint32_t>(pool.regions.size());
  for (Candidate& candidate : fresh.candidates) {
    candidate.region += first;
    pool.candidates.push_back(std::move(candidate));
  }
  for (RegionRefusal& refusal : fresh.refusals) {
    refusal.region += first;
    pool.refusals.push_back(std::move(refusal));
  }
  for (Region& region : fresh.regions) pool.regions.push_back(std::move(region));
}

}  // namespace collage
