// What the stages of one price job share: the candidates on their way, and what is noticed about the worker meanwhile.
//   candidate_setup.h    compiles a candidate, keeps the artifact, loads and binds it
//   candidate_judge.h    compares its outputs with what is expected
//   candidate_timing.h   times all candidates against each other
// Not here: their order (price_job.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/jobs.h"
#include "measure/price_subject.h"
#include "measure/trial.h"
#include "measure/workbench.h"
#include "worker/process_state.h"

namespace collage {

/// A candidate on its way through the job.
struct JobCandidate {
  CandidateSpec spec;
  std::int32_t index;         ///< in the job
  std::string compiled = {};  ///< hash of its artifact, where that was compiled before
  std::optional<Trial> trial = std::nullopt;
  CandidateAnswer answer = {};

  [[nodiscard]] bool is_refused() const { return std::holds_alternative<Infeasible>(answer.cost); }
};

/// One job. What it refers to outlives it; all stages work on one thread.
struct PriceRun {
  const PriceJob& job;
  const PriceSubject& subject;
  Workbench& bench;
  JobContext& context;
  StateWatch watch = {};
  bool harmed = false;  ///< a candidate may have harmed the worker

  /// Tells the supervisor what the candidate is about to do.
  void begin(const std::string& stage, const JobCandidate& candidate, std::int64_t expected_ns = 0);
  /// Ends the candidate's way at the stage begun last.
  void refuse(JobCandidate& candidate, Refusal refusal);
  void refuse(JobCandidate& candidate, RefusalReason reason, std::string detail);
  /// Refuses a candidate whose trial failed.
  void accept(JobCandidate& candidate, std::optional<TrialFailure> failed);
  /// Refuses a candidate that left the process changed. The first refusal stays.
  void settle(JobCandidate& candidate);
  /// One run of its trial; an exception is an error of the run.
  [[nodiscard]] Result<void> run_guarded(JobCandidate& candidate);
  /// Nanoseconds of so many runs of its trial, which is queued; exceptions likewise.
  [[nodiscard]] Result<std::int64_t> time_guarded(JobCandidate& candidate, std::int64_t runs);

 private:
  template <class Work>
  [[nodiscard]] auto guarded(Work&& work) -> decltype(work());
};

}  // namespace collage
