#include "tune/price/cover_artifacts.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "backend/extensions/portability_extension.h"
#include "region/narrow_variant.h"

namespace collage {
namespace {

CandidateSpec kernel_spec(const CoverKernel& kernel, const std::string& backend) {
  return {.backend = backend, .variant = kernel.variant, .labels = labels_of(kernel.region, kernel.region.matches)};
}

std::string kernel_title(const Graph& graph, const CoverKernel& kernel, const std::string& backend) {
  return backend + "/" + kernel.variant.name + " at " + graph.nodes[kernel.region.nodes.next()].name;
}

/// Whether every narrow port of the first variant is one of the second, too.
bool has_ports_of(const Variant& first, const Variant& second) {
  const auto all = [](const std::vector<Format>& ours, const std::vector<Format>& theirs) {
    for (std::size_t port = 0; port < std::min(ours.size(), theirs.size()); ++port)
      if (ours[port].narrow() && !theirs[port].narrow()) return false;
    return true;
  };
  return all(first.input_formats, second.input_formats) && all(first.output_formats, second.output_formats);
}

/// "winograd4+i16" of "winograd4+i16.nhwc/columns=14".
std::string_view implementation_of(std::string_view name) { return name.substr(0, name.find('.')); }

/// Of a variant that rounds too much for its place: whether another one of the same nodes does, too. What products in
/// fixed point err depends on the algorithm: Winograd's transforms enlarge it.
bool rounds_like(const Variant& broken, const Variant& other) {
  if (!is_narrow(other) || !has_ports_of(broken, other)) return false;
  if (multiplies_fixed_point(broken)) return implementation_of(broken.name) == implementation_of(other.name);
  return !is_fixed_point(other);
}

Error no_artifact(const std::string& what, const Refusal& refusal) {
  return {.code = kNoArtifact,
          .where = what,
          .saw = std::string(name_of(refusal.reason)) + ": " + refusal.detail,
          .allowed = "a candidate that works with the weights of its place",
          .exit = ExitCode::kUnsupported};
}

}  // namespace

CoverArtifacts::CoverArtifacts(const Graph& graph, Registry& registry, Pricer& pricer)
    : graph_(graph), registry_(registry), pricer_(pricer) {}

Result<std::vector<Artifact>> CoverArtifacts::make(const Cover& cover, const ArtifactLimits& limits,
                                                   ConversionCosts& conversions) {
  make_ahead(cover, limits);
  std::vector<Artifact> artifacts;
  // All that do not work are found at once: each costs a search.
  std::optional<Error> first_error;
  for (const CoverStep& step : cover.steps) {
    if (!has_artifact(step)) {
      artifacts.emplace_back();
      continue;
    }
    if (Clock::now() > limits.latest && first_error) break;
    if (Clock::now() > limits.latest)
      return fail(ExitCode::kLimit, kNoTimeForPlan, "cover",
                  fmt::format("{} of {} steps made", artifacts.size(), cover.steps.size()), "a larger budget");
    auto artifact = make_step(step, limits, conversions);
    if (artifact) {
      artifacts.push_back(*std::move(artifact));
      continue;
    }
    if (artifact.error().code != kNoArtifact) return std::unexpected(std::move(artifact).error());
    artifacts.emplace_back();
    if (!first_error) first_error = std::move(artifact).error();
  }
  if (first_error) return std::unexpected(*std::move(first_error));
  return artifacts;
}

Result<Artifact> CoverArtifacts::make_step(const CoverStep& step, const ArtifactLimits& limits,
                                           ConversionCosts& conversions) {
  if (const auto move = move_of(step))
    return make_conversion(conversion_of(graph_, *move), step.backend, limits, conversions);
  return make_kernel(std::get<CoverKernel>(step.work), step.backend, limits);
}

void CoverArtifacts::make_ahead(const Cover& cover, const ArtifactLimits& limits) {
  if (limits.portable_until) return;
  std::vector<PriceRequest> requests;
  std::vector<ConversionRequest> conversions;
  for (const CoverStep& step : cover.steps) {
    if (!has_artifact(step)) continue;
    if (const auto move = move_of(step))
      conversions.push_back({.conversion = conversion_of(graph_, *move), .backends = {step.backend}});
    else if (const auto* const kernel = std::get_if<CoverKernel>(&step.work))
      requests.push_back({.region = kernel->region, .candidates = {kernel_spec(*kernel, step.backend)}});
  }
  pricer_.make_ahead(graph_, requests, conversions, limits.latest, limits.stop);
}

Result<Artifact> CoverArtifacts::make_conversion(const Conversion& conversion, const std::string& backend,
                                                 const ArtifactLimits& limits, ConversionCosts& conversions) {
  COLLAGE_TRY(Stored stored, pricer_.artifact_for(conversion, backend, limits.stop));
  if (stored) return std::move(stored->artifact);
  conversions.refuse(conversion);
  ++broken_count_;
  return std::unexpected(no_artifact(backend + " conversion", stored.error()));
}

Result<Artifact> CoverArtifacts::make_kernel(const CoverKernel& kernel, const std::string& backend,
                                             const ArtifactLimits& limits) {
  COLLAGE_TRY(Stored stored, stored_kernel(kernel, backend, limits));
  if (stored) return std::move(stored->artifact);
  note_broken(kernel, backend, stored.error());
  return std::unexpected(no_artifact(kernel_title(graph_, kernel, backend), stored.error()));
}

Result<CoverArtifacts::Stored> CoverArtifacts::stored_kernel(const CoverKernel& kernel, const std::string& backend,
                                                             const ArtifactLimits& limits) {
  COLLAGE_TRY(std::optional<StoredArtifact> portable, portable_kernel(kernel, backend, limits));
  if (portable) return Stored(*std::move(portable));
  return pricer_.artifact_for(graph_, kernel.region, kernel_spec(kernel, backend), limits.stop);
}

Result<std::optional<StoredArtifact>> CoverArtifacts::portable_kernel(const CoverKernel& kernel,
                                                                      const std::string& name,
                                                                      const ArtifactLimits& limits) {
  if (!limits.portable_until) return std::nullopt;
  COLLAGE_TRY(const Backend* const backend, registry_.get(name));
  if (baseline_instance(*backend).empty()) return std::nullopt;
  std::string why = "no time left";
  if (Clock::now() < *limits.portable_until) {
    COLLAGE_TRY(Stored stored,
                pricer_.artifact_for(graph_, kernel.region, kernel_spec(kernel, name), limits.stop, true));
    if (stored) return std::optional(*std::move(stored));
    why = stored.error().detail;
  }
  unportable_.push_back(kernel_title(graph_, kernel, name) + ": " + why);
  return std::nullopt;
}

void CoverArtifacts::note_broken(const CoverKernel& kernel, const std::string& backend, const Refusal& refusal) {
  Broken broken{.region = kernel.region, .backend = backend, .variant = kernel.variant, .refusal = refusal};
  broken.rounds_too_much = refusal.reason == RefusalReason::kWrongResult && is_narrow(kernel.variant);
  if (broken.rounds_too_much && kernel.region.constants.empty())
    broken.structure = structure_key(graph_, kernel.region);
  broken_.push_back(std::move(broken));
  ++broken_count_;
}

bool CoverArtifacts::is_like(const Broken& broken, const Candidate& candidate, const Region& region) const {
  if (broken.backend != candidate.backend) return false;
  const bool is_same = broken.variant == candidate.variant;
  if (is_same && broken.region == region) return true;
  if (!broken.rounds_too_much) return false;
  if (broken.region.nodes == region.nodes) return rounds_like(broken.variant, candidate.variant);
  return is_same && !broken.structure.empty() && region.constants.empty() &&
         region.nodes.count() == broken.region.nodes.count() && structure_key(graph_, region) == broken.structure;
}

const CoverArtifacts::Broken* CoverArtifacts::like(const CandidatePool& pool, const Candidate& candidate) const {
  const auto found = std::ranges::find_if(
      broken_, [&](const Broken& broken) { return is_like(broken, candidate, pool.regions[candidate.region]); });
  return found == broken_.end() ? nullptr : &*found;
}

std::vector<Cost> CoverArtifacts::without_broken(const CandidatePool& pool, std::vector<Cost> costs) const {
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (const Broken* const broken = like(pool, pool.candidates[c])) costs[c] = Infeasible{broken->refusal};
  return costs;
}

std::vector<Cost> CoverArtifacts::without_rounding(const CandidatePool& pool, std::vector<Cost> costs) const {
  for (std::size_t c = 0; c < costs.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    if (!is_narrow(candidate.variant)) continue;
    const NodeSet& nodes = pool.regions[candidate.region].nodes;
    const auto found = std::ranges::find_if(broken_, [&](const Broken& broken) {
      if (!broken.rounds_too_much || !broken.region.nodes.is_subset_of(nodes)) return false;
      if (broken.region.nodes == nodes) return rounds_like(broken.variant, candidate.variant);
      return !multiplies_fixed_point(broken.variant) && !is_fixed_point(candidate.variant);
    });
    if (found != broken_.end()) costs[c] = Infeasible{found->refusal};
  }
  return costs;
}

NodeSet CoverArtifacts::rounding_nodes(const CandidatePool& pool) const {
  NodeSet nodes(graph_.nodes.size());
  for (const Candidate& candidate : pool.candidates) {
    const NodeSet& ours = pool.regions[candidate.region].nodes;
    if (!is_narrow(candidate.variant) || ours.count() != 1 || nodes.contains(ours.next())) continue;
    if (const Broken* const broken = like(pool, candidate); broken != nullptr && broken->rounds_too_much) nodes |= ours;
  }
  return nodes;
}

}  // namespace collage
