// Has a worker process measure or prepare the candidates of a group.
// In: a group. Out: answers; strikes against backends that killed a worker; reproduction bundles of failures.
// A worker that dies costs only the candidate at work: a fresh worker repeats the job without it.
// Not here: which groups there are (pricer.h), what other tuners measure (group_turns.h).
#pragma once

#include <expected>
#include <map>
#include <stop_token>
#include <string>

#include "backend/registry.h"
#include "measure/answer_book.h"
#include "measure/work_ahead.h"
#include "store/keys.h"
#include "store/strikes.h"
#include "worker/worker_process.h"

namespace collage {

/// One thread. What it is given outlives it.
class GroupRunner {
 public:
  GroupRunner(const PricerOptions& options, const MeasureContext& context, Registry& registry, Store& store,
              AnswerBook& book);

  /// Answers all that is pending, unless a stop comes first. Error worker/cannot-start, or of a job whose files cannot
  /// be read.
  [[nodiscard]] Result<void> run(PriceGroup group, const std::stop_token& stop, Answers& answers);

  /// Asks a worker for the artifacts of the group, verified and not timed; to be read with accepted().
  [[nodiscard]] std::expected<Result<Json>, Death> prepare(const PriceGroup& group, bool recorded_only,
                                                           const std::stop_token& stop);
  /// The answer of a worker, which ends when it may be harmed.
  [[nodiscard]] Result<PriceAnswer> accepted(const Json& json);

  /// Does on all processors what comes before timing, so that run() and prepare() find it done: before samples
  /// compilers compile, else all that is pending is verified. Begins nothing after `until`. Candidates that hang or
  /// give wrong numbers are answered and left out, where there are `answers`; else the store knows of wrong numbers.
  void work_ahead(std::map<std::string, PriceGroup>& groups, Clock::time_point until, const std::stop_token& stop,
                  Answers* answers = nullptr);
  /// Ends all workers: what is asked next is answered by processes in which nothing ran before.
  void leave_workers();

  /// The next job compiles the candidate. False when it would have done that anyway.
  bool forget_compiled(const PendingCandidate& pending, const PriceGroup& group);

  /// The store knows from now on that the candidate has no artifact for these weights.
  void refuse_artifact(const PendingCandidate& pending, const PriceGroup& group, const Refusal& refusal,
                       const std::string& stage);
  /// Counts against the backend on such operators.
  void strike(const std::string& backend, const PriceGroup& group, const Refusal& why);
  /// A failure becomes a reproduction bundle.
  void keep_repro(const PriceGroup& group, const CandidateSpec& candidate, const Refusal& refusal,
                  const std::string& stage);

  /// What every death of a worker before the first sign of life costs: reading the graph, loading modules.
  [[nodiscard]] Allowance allowance() const;
  /// The least time of a worker's canary so far; 0 = nothing was timed.
  [[nodiscard]] std::int64_t quiet_ns() const { return quiet_ns_; }
  [[nodiscard]] WorkerProcess& worker() { return worker_; }

 private:
  /// The usual one; leases last as long as it allows.
  [[nodiscard]] Allowance allowance_with_leases();
  [[nodiscard]] PriceJob job_for(const PriceGroup& group, Effort effort);
  /// What a compiler makes of a structure serves each of its places; what others make may contain weights.
  [[nodiscard]] std::string compiled_key(const PendingCandidate& pending, const PriceGroup& group);
  [[nodiscard]] bool is_compiler(const std::string& backend);
  [[nodiscard]] bool is_blocked(const PendingCandidate& pending, const PriceGroup& group);
  /// Whether exactly this artifact gave the right numbers on all inputs, with the weights of the group.
  [[nodiscard]] bool is_verified(const PendingCandidate& pending, const PriceGroup& group,
                                 const std::string& artifact) const;
  /// Empty when it has to be compiled.
  [[nodiscard]] std::string compiled_before(const PendingCandidate& pending, const PriceGroup& group);
  /// Whether there is something to do ahead for this candidate.
  [[nodiscard]] bool needs_work_ahead(const PendingCandidate& pending, const PriceGroup& group);
  /// Whether no other tuner answers for it: then this one does.
  [[nodiscard]] bool is_ours(const PendingCandidate& pending);
  /// What was found ahead; whether the candidate has its answer now.
  [[nodiscard]] bool settle_ahead(const PendingCandidate& pending, const PriceGroup& group, const WorkedAhead& done,
                                  bool is_compiled_here, Answers* answers);
  void keep_ahead(const PendingCandidate& pending, const PriceGroup& group, const CandidateAnswer& answer);
  void keep_artifact(const PendingCandidate& pending, const PriceGroup& group, const std::string& artifact,
                     bool is_verified);
  void refuse_dead(const PendingCandidate& pending, const PriceGroup& group, const Death& death, Answers& answers);
  /// Whom a death is blamed on is answered and left out; false when nobody was at work.
  [[nodiscard]] bool blame(const Death& death, PriceGroup& group, Answers& answers);
  void keep(const PriceGroup& group, const PriceAnswer& answer, Answers& answers);
  void keep_answer(const PendingCandidate& pending, const PriceGroup& group, const CandidateAnswer& answer,
                   Answers& answers);
  /// Refuses what is pending of backends that died too often on such operators.
  void leave_out_blocked(PriceGroup& group, Answers& answers);
  void refuse_all(const PriceGroup& group, const Refusal& refusal, const std::string& stage, Answers& answers);

  const PricerOptions& options_;
  const MeasureContext& context_;
  Registry& registry_;
  Store& store_;
  AnswerBook& book_;
  WorkerProcess worker_;
  WorkersAhead ahead_;
  std::map<std::string, std::string> compiled_;  ///< hashes of artifacts, by compiled_key()
  std::map<std::string, std::string> verified_;  ///< hashes of those right on all inputs, by artifact key
  Strikes strikes_;
  std::int64_t quiet_ns_ = 0;
};

}  // namespace collage
