// First stage of a price job: from what a candidate is to something that runs.
// In: a candidate. Out: its trial and the name of its kept artifact, or its refusal.
// Cost: compiling and loading.
// Not here: whether it computes the right numbers (candidate_judge.h).
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "measure/price_run.h"

namespace collage {

class CandidateSetup {
 public:
  explicit CandidateSetup(PriceRun& run) : run_(run) {}

  /// A view has no trial: it runs nothing.
  void set_up(JobCandidate& candidate);

 private:
  [[nodiscard]] std::expected<Artifact, Refusal> compile(Backend& backend, const CandidateSpec& spec);
  void compile_and_load(JobCandidate& candidate, Backend& backend);
  /// The artifact that was compiled before; nothing when it has to be compiled.
  [[nodiscard]] std::optional<Artifact> compiled_before(const JobCandidate& candidate) const;
  void keep_and_load(JobCandidate& candidate, Backend& backend, const Artifact& artifact);
  void load_artifact(JobCandidate& candidate, Backend& backend, const Artifact& artifact);
  void load(JobCandidate& candidate, TrialSpec spec);
  [[nodiscard]] Accuracy class_of_candidate(const CandidateSpec& spec) const;
  [[nodiscard]] TrialSpec trial_spec(const CandidateSpec& spec, Backend& backend) const;
  [[nodiscard]] bool has_changed_graph() const;

  PriceRun& run_;
  std::optional<Graph> lent_;  ///< what backends are given, so that one that changes it harms no other
  std::string structure_;      ///< of the region in it, untouched
};

/// The output shares the input's bytes.
[[nodiscard]] bool is_view(const CandidateSpec& spec);

}  // namespace collage
