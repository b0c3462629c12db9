#include "measure/pricer.h"

#include "measure/group_turns.h"
#include "measure/make_artifact.h"
#include "timing/machine.h"

namespace collage {

Pricer::Pricer(PricerOptions options, Registry& registry, Store& store)
    : options_(std::move(options)),
      registry_(registry),
      store_(store),
      context_{.threads = options_.measure.threads,
               .accuracy = options_.measure.accuracy,
               .machine = machine_print(),
               .displaced_bytes = options_.displaced_bytes},
      book_(store),
      runner_(options_, context_, registry, store, book_),
      facts_(store, options_.graph.model) {}

std::expected<std::string, Refusal> Pricer::key_of(const std::string& structure, const CandidateSpec& candidate) {
  const auto backend = registry_.get(candidate.backend);
  if (!backend) return std::unexpected(Refusal{.reason = RefusalReason::kMissing, .detail = backend.error().saw});
  return cost_key(structure, candidate.variant, (*backend)->info(), context_);
}

std::expected<std::string, Refusal> Pricer::key_of(const Conversion& conversion, const std::string& backend) {
  const auto found = registry_.get(backend);
  if (!found) return std::unexpected(Refusal{.reason = RefusalReason::kMissing, .detail = found.error().saw});
  return conversion_key(conversion, (*found)->info(), context_);
}

void Pricer::look_up(const std::string& key, const CandidateSpec& candidate, PriceGroup& group, Answers& answers) {
  if (answers.contains(key) || book_.reuse(key, group.effort, answers)) return;
  answers[key] = {.cost = Unknown{}};
  group.pending.push_back({.key = key, .candidate = candidate});
}

Result<std::vector<std::vector<PricedCandidate>>> Pricer::price(const Graph& graph,
                                                                std::span<const PriceRequest> requests,
                                                                const MeasureLimits& limits, Effort effort) {
  std::map<std::string, PriceGroup> groups;
  Answers answers;
  Keys keys;
  for (const PriceRequest& request : requests) {
    const std::string structure = measured_key(graph, request.region);
    facts_.note(structure, graph, request.region);
    PriceGroup& group = groups[structure];
    // The first place of a structure stands for all: the others differ in weights only.
    const bool is_first = group.nodes.empty();
    if (is_first) group = group_of(graph, request.region);
    group.effort = effort;
    keys.emplace_back();
    for (const CandidateSpec& candidate : request.candidates) {
      keys.back().push_back(key_of(structure, candidate));
      if (keys.back().back()) look_up(*keys.back().back(), candidate, group, answers);
    }
  }
  facts_.keep();
  return priced(keys, groups, limits, answers);
}

Result<std::vector<std::vector<PricedCandidate>>> Pricer::price(std::span<const ConversionRequest> requests,
                                                                const MeasureLimits& limits, Effort effort) {
  std::map<std::string, PriceGroup> groups;
  Answers answers;
  Keys keys;
  for (const ConversionRequest& request : requests) {
    const Conversion& conversion = request.conversion;
    PriceGroup& group = groups.try_emplace(text_of(conversion), group_of(conversion)).first->second;
    group.effort = effort;
    keys.emplace_back();
    for (const std::string& backend : request.backends) {
      keys.back().push_back(key_of(conversion, backend));
      if (keys.back().back()) look_up(*keys.back().back(), {.backend = backend, .variant = {}}, group, answers);
    }
  }
  return priced(keys, groups, limits, answers);
}

Result<std::vector<std::vector<PricedCandidate>>> Pricer::priced(const Keys& keys,
                                                                 std::map<std::string, PriceGroup>& groups,
                                                                 const MeasureLimits& limits, Answers& answers) {
  COLLAGE_TRY_VOID(GroupTurns(runner_, store_, book_, options_.progress).run(groups, limits, answers));
  std::vector<std::vector<PricedCandidate>> priced;
  for (const auto& list : keys) {
    priced.emplace_back();
    for (const auto& key : list)
      priced.back().push_back(key ? answers.at(*key) : PricedCandidate{.cost = Infeasible{key.error()}});
  }
  return priced;
}

PriceGroup Pricer::group_of(const Graph& graph, const Region& region) {
  return {.nodes = indices_of(region.nodes),
          .repeated = indices_of(region.repeated),
          .operators = operators_of(graph, region),
          .place = place_hash(graph, region, hashes_),
          .graph = &graph};
}

PriceGroup Pricer::group_of(const Conversion& conversion) {
  return {.nodes = {}, .repeated = {}, .conversion = conversion, .operators = kConversion, .place = "none"};
}

bool Pricer::knows_artifact(const std::string& key, const std::string& place) {
  return store_.artifact(artifact_key(key, place)) || store_.verdict(numbers_key(key, place));
}

void Pricer::make_ahead(const Graph& graph, std::span<const PriceRequest> requests,
                        std::span<const ConversionRequest> conversions, Clock::time_point until,
                        const std::stop_token& stop) {
  std::map<std::string, PriceGroup> groups;
  for (const PriceRequest& request : requests) {
    const std::string structure = measured_key(graph, request.region);
    PriceGroup group = group_of(graph, request.region);
    for (const CandidateSpec& candidate : request.candidates)
      if (const auto key = key_of(structure, candidate); key && !knows_artifact(*key, group.place))
        group.pending.push_back({.key = *key, .candidate = candidate});
    // Each place of a structure has other weights.
    if (!group.pending.empty())
      groups.try_emplace(artifact_key(group.pending.front().key, group.place), std::move(group));
  }
  for (const ConversionRequest& request : conversions)
    for (const std::string& backend : request.backends) {
      PriceGroup group = group_of(request.conversion);
      const auto key = key_of(request.conversion, backend);
      if (!key || knows_artifact(*key, group.place)) continue;
      group.pending = {{.key = *key, .candidate = {.backend = backend, .variant = {}}}};
      groups.try_emplace(*key, std::move(group));
    }
  runner_.work_ahead(groups, until, stop);
}

Result<std::expected<StoredArtifact, Refusal>> Pricer::artifact_for(const Graph& graph, const Region& region,
                                                                    const CandidateSpec& candidate,
                                                                    const std::stop_token& stop, bool portable) {
  const auto key = key_of(measured_key(graph, region), candidate);
  if (!key) return std::expected<StoredArtifact, Refusal>(std::unexpected(key.error()));
  PriceGroup group = group_of(graph, region);
  group.pending = {{.key = portable ? *key + " portable" : *key, .candidate = candidate}};
  group.portable = portable;
  return make_artifact(runner_, store_, group, region.constants, stop);
}

Result<std::expected<StoredArtifact, Refusal>> Pricer::artifact_for(const Conversion& conversion,
                                                                    const std::string& backend,
                                                                    const std::stop_token& stop) {
  const auto key = key_of(conversion, backend);
  if (!key) return std::expected<StoredArtifact, Refusal>(std::unexpected(key.error()));
  PriceGroup group = group_of(conversion);
  group.pending = {{.key = *key, .candidate = {.backend = backend, .variant = {}}}};
  return make_artifact(runner_, store_, group, {}, stop);
}

}  // namespace collage
