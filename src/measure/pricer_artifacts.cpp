#include "measure/pricer_groups.h"

namespace collage {
namespace {

std::string numbers_key(const std::string& artifact_key) { return "numbers " + artifact_key; }

}  // namespace

Result<std::expected<StoredArtifact, Refusal>> Pricer::artifact_for(const Graph& graph, const Region& region,
                                                                    const CandidateSpec& candidate,
                                                                    const std::stop_token& stop, bool portable) {
  const auto key = key_of(structure_key(graph, region), candidate);
  if (!key) return std::expected<StoredArtifact, Refusal>(std::unexpected(key.error()));
  ConstantHashes hashes;
  return prepare({.nodes = indices_of(region.nodes),
                  .repeated = indices_of(region.repeated),
                  .conversion = std::nullopt,
                  .operators = operators_of(graph, region),
                  .place = place_hash(graph, region, hashes),
                  .graph = &graph,
                  .pending = {{.key = portable ? *key + " portable" : *key, .candidate = candidate}},
                  .portable = portable},
                 region.constants, stop);
}

Result<std::expected<StoredArtifact, Refusal>> Pricer::artifact_for(const Conversion& conversion,
                                                                    const std::string& backend,
                                                                    const std::stop_token& stop) {
  const auto key = key_of(conversion, backend);
  if (!key) return std::expected<StoredArtifact, Refusal>(std::unexpected(key.error()));
  return prepare({.nodes = {},
                  .repeated = {},
                  .conversion = conversion,
                  .operators = kConversion,
                  .place = "none",
                  .pending = {{.key = *key, .candidate = {.backend = backend, .variant = {}}}}},
                 {}, stop);
}

Result<std::expected<StoredArtifact, Refusal>> Pricer::prepare(Group group, std::span<const ValueId> constants,
                                                               const std::stop_token& stop) {
  using Outcome = std::expected<StoredArtifact, Refusal>;
  const std::string key = artifact_key(group.pending[0].key, group.place);
  const std::string& folder = store_.artifact_folder();
  if (const auto hash = store_.artifact(key))
    if (auto artifact = read_artifact(folder, *hash, constants))
      return Outcome(StoredArtifact{.artifact = std::move(*artifact), .hash = *hash});
  const auto refuse = [&](const Refusal& refusal, const std::string& stage) {
    // A repro is compiled for this processor alone.
    if (!group.portable) keep_repro(group, group.pending[0].candidate, refusal, stage);
    store_.put_verdict(numbers_key(key), to_line(to_json(refusal)));
    return Outcome(std::unexpected(refusal));
  };
  if (const auto verdict = store_.verdict(numbers_key(key)))
    if (const auto json = parse_json(*verdict, "store"))
      if (const auto refusal = read_json("store", [&] { return refusal_from(*json); }))
        return Outcome(std::unexpected(*refusal));
  const auto ask = [&](bool recorded_only) {
    PriceJob job = job_for(group, Effort::kPrepare);
    job.judging.recorded_only = recorded_only;
    return worker_.call(to_json(job), allowance_of(options_), stop);
  };
  // The numbers of a portable one are those of kernels that were judged on all inputs.
  auto outcome = ask(group.portable);
  // A worker that died before the candidate's turn, perhaps already between the jobs, says nothing about it.
  if (!outcome && !outcome.error().stopped && !outcome.error().candidate) outcome = ask(true);
  if (!outcome && outcome.error().stopped)
    return fail(ExitCode::kInterrupted, "measure/stopped", "worker", "a request to stop");
  if (!outcome) {
    if (outcome.error().candidate && !group.portable)
      strike(group.pending[0].candidate.backend, group, outcome.error().refusal);
    return refuse(outcome.error().refusal, outcome.error().stage);
  }
  if (!*outcome) return std::unexpected(outcome->error());
  COLLAGE_TRY(const PriceAnswer answer, price_answer_from(**outcome));
  if (answer.harmed || worker_.is_bloated()) worker_.stop();
  if (answer.candidates.size() != 1)
    return fail(ExitCode::kBug, "measure/malformed-json", "price answer", "another number of candidates", "one");
  if (const auto* infeasible = std::get_if<Infeasible>(&answer.candidates[0].cost))
    return refuse(infeasible->refusal, answer.candidates[0].stage);
  const std::string& hash = answer.candidates[0].artifact;
  if (hash.empty())
    return fail(ExitCode::kIo, "artifact/cannot-write", folder, "an artifact that could not be written", "room for it");
  COLLAGE_TRY(Artifact artifact, read_artifact(folder, hash, constants));
  store_.put_artifact(key, hash);
  return Outcome(StoredArtifact{.artifact = std::move(artifact), .hash = hash});
}

}  // namespace collage
