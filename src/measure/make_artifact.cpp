#include "measure/make_artifact.h"

namespace collage {
namespace {

using Outcome = std::expected<StoredArtifact, Refusal>;

/// What the store knows of it.
std::optional<Outcome> known_outcome(Store& store, const PriceGroup& group, std::span<const ValueId> constants) {
  const PendingCandidate& pending = group.pending.front();
  const std::string key = artifact_key(pending.key, group.place);
  if (const auto hash = store.artifact(key))
    if (auto artifact = read_artifact(store.artifact_folder(), *hash, constants))
      return Outcome(StoredArtifact{.artifact = std::move(*artifact), .hash = *hash});
  if (const auto verdict = store.verdict(numbers_key(pending.key, group.place)))
    if (const auto json = parse_json(*verdict, "store"))
      if (const auto refusal = read_json("store", [&] { return refusal_from(*json); }))
        return Outcome(std::unexpected(*refusal));
  return std::nullopt;
}

/// The numbers of a portable one are those of kernels that were judged on all inputs.
std::expected<Result<Json>, Death> ask(GroupRunner& runner, const PriceGroup& group, const std::stop_token& stop) {
  auto outcome = runner.prepare(group, group.portable, stop);
  // A worker that died before the candidate's turn, perhaps already between the jobs, says nothing about it.
  if (!outcome && !outcome.error().stopped && !outcome.error().candidate) outcome = runner.prepare(group, true, stop);
  return outcome;
}

}  // namespace

Result<Outcome> make_artifact(GroupRunner& runner, Store& store, const PriceGroup& group,
                              std::span<const ValueId> constants, const std::stop_token& stop) {
  const PendingCandidate& pending = group.pending.front();
  if (auto known = known_outcome(store, group, constants)) return *std::move(known);
  const auto refuse = [&](const Refusal& refusal, const std::string& stage) {
    runner.refuse_artifact(pending, group, refusal, stage);
    return Outcome(std::unexpected(refusal));
  };
  const auto outcome = ask(runner, group, stop);
  if (!outcome && outcome.error().stopped)
    return fail(ExitCode::kInterrupted, "measure/stopped", "worker", "a request to stop");
  if (!outcome) {
    const Death& death = outcome.error();
    if (death.candidate && !group.portable) runner.strike(pending.candidate.backend, group, death.refusal);
    return refuse(death.refusal, death.stage);
  }
  if (!*outcome) return std::unexpected(outcome->error());
  COLLAGE_TRY(const PriceAnswer answer, runner.accepted(**outcome));
  if (answer.candidates.size() != 1)
    return fail(ExitCode::kBug, "measure/malformed-json", "price answer", "another number of candidates", "one");
  const CandidateAnswer& only = answer.candidates[0];
  if (const auto* infeasible = std::get_if<Infeasible>(&only.cost)) {
    // What was compiled at another place of the same structure may know the weights of that place.
    if (runner.forget_compiled(pending, group)) return make_artifact(runner, store, group, constants, stop);
    return refuse(infeasible->refusal, only.stage);
  }
  const std::string& folder = store.artifact_folder();
  if (only.artifact.empty())
    return fail(ExitCode::kIo, "artifact/cannot-write", folder, "an artifact that could not be written", "room for it");
  COLLAGE_TRY(Artifact artifact, read_artifact(folder, only.artifact, constants));
  store.put_artifact(artifact_key(pending.key, group.place), only.artifact);
  return Outcome(StoredArtifact{.artifact = std::move(artifact), .hash = only.artifact});
}

}  // namespace collage
