// Has a worker process measure or prepare the candidates of a group.
// In: a group. Out: answers; strikes against backends that killed a worker; reproduction bundles of failures.
// A worker that dies costs only the candidate at work: a fresh worker repeats the job without it.
// Not here: which groups there are (pricer.h), what other tuners measure (group_turns.h).
#pragma once

#include <expected>
#include <stop_token>
#include <string>

#include "backend/registry.h"
#include "measure/answer_book.h"
#include "measure/batch_compiler.h"
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

  /// Compiles what is pending of compilers on all processors, so that run() finds it compiled.
  void compile_ahead(const std::map<std::string, PriceGroup>& groups, const std::stop_token& stop);

  /// The next job compiles the candidate. False when it would have done that anyway.
  bool forget_compiled(const PendingCandidate& pending, const PriceGroup& group);

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
  /// Whom a death is blamed on is answered and left out; false when nobody was at work.
  [[nodiscard]] bool blame(const Death& death, PriceGroup& group, Answers& answers);
  void keep(const PriceGroup& group, const PriceAnswer& answer, Answers& answers);
  /// Refuses what is pending of backends that died too often on such operators.
  void leave_out_blocked(PriceGroup& group, Answers& answers);
  void refuse_all(const PriceGroup& group, const Refusal& refusal, const std::string& stage, Answers& answers);

  const PricerOptions& options_;
  const MeasureContext& context_;
  Registry& registry_;
  Store& store_;
  AnswerBook& book_;
  WorkerProcess worker_;
  BatchCompiler compilers_;
  std::map<std::string, std::string> compiled_;  ///< hashes of artifacts, by compiled_key()
  Strikes strikes_;
  std::int64_t quiet_ns_ = 0;
};

}  // namespace collage
