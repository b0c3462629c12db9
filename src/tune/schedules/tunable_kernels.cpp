#include "tune/schedules/tunable_kernels.h"

#include <algorithm>

#include "backend/extensions/tuning_extension.h"
#include "store/keys.h"

namespace collage {
namespace {

std::string name_of_group(const std::string& structure, const Candidate& candidate) {
  const Variant& variant = candidate.variant;
  return structure + '|' + candidate.backend + '|' + std::string(way_of(variant.name)) + '|' +
         names_of(variant.input_formats) + '|' + names_of(variant.output_formats);
}

}  // namespace

std::optional<TuningSpace> space_of(Registry& registry, const Graph& graph, const CandidatePool& pool,
                                    const KernelGroup& group, const CompileOptions& options) {
  const auto backend = registry.get(group.backend);
  if (!backend) return std::nullopt;
  auto space =
      guard([&] { return tuning_space(**backend, graph, pool.regions[group.regions[0]], group.variant, options); });
  return space ? *std::move(space) : std::nullopt;
}

std::vector<KernelGroup> kernel_groups(const Graph& graph, const CandidatePool& pool, Registry& registry,
                                       const CompileOptions& options) {
  std::vector<std::string> structures(pool.regions.size());
  std::map<std::string, std::size_t> places;
  std::vector<KernelGroup> groups;
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    if (candidate.variant.name.find('/') == std::string::npos) continue;
    std::string& structure = structures[candidate.region];
    if (structure.empty()) structure = structure_key(graph, pool.regions[candidate.region]);
    const auto [place, is_new] = places.emplace(name_of_group(structure, candidate), groups.size());
    if (is_new)
      groups.push_back({.structure = structure,
                        .backend = candidate.backend,
                        .variant = candidate.variant,
                        .regions = {},
                        .candidates = {}});
    KernelGroup& group = groups[place->second];
    group.candidates.push_back(c);
    if (group.regions.empty() || group.regions.back() != candidate.region) group.regions.push_back(candidate.region);
  }
  for (KernelGroup& group : groups) {
    std::ranges::sort(group.regions);
    group.regions.erase(std::ranges::unique(group.regions).begin(), group.regions.end());
  }
  std::erase_if(groups, [&](const KernelGroup& group) { return !space_of(registry, graph, pool, group, options); });
  return groups;
}

}  // namespace collage
