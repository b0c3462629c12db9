// Prices candidates: takes their costs from the store, or has a worker process measure them.
// In:  regions or conversions, each with its candidates. Out: a cost for each candidate.
// How: candidates of one structure form one job, which is measured once however often the structure occurs. All jobs go
//       to one worker, one after the other, so that nothing of ours runs beside a measurement. A worker that dies costs
//       only the candidate that it was processing: a new worker repeats the job without it. Each cost is stored as soon
//       as it arrives. Costs that another tuner with the same store is measuring are left until last; then the tuner
//       waits for them.
#pragma once

#include <expected>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "measure/jobs.h"
#include "measure/measure_options.h"
#include "measure/repro_keeper.h"
#include "store/artifact_file.h"
#include "store/keys.h"
#include "store/region_facts.h"
#include "store/store.h"
#include "store/strikes.h"
#include "worker/worker_process.h"

namespace collage {

struct PricerOptions {
  MeasureOptions measure;
  MeasuredGraph graph;               ///< that price() is given
  std::int64_t displaced_bytes = 0;  ///< of the caches before each timed run (displacer.h)
  Progress progress;                 ///< may be empty
  ReproKeeper* repros = nullptr;     ///< told of failures; outlives the pricer
};

/// One region and the ways to run it.
struct PriceRequest {
  Region region;
  std::vector<CandidateSpec> candidates;
};

/// One conversion and the instances to ask for it.
struct ConversionRequest {
  Conversion conversion;
  std::vector<std::string> backends;
};

struct PricedCandidate {
  Cost cost;            ///< measured or infeasible; unknown when stopped before its turn
  bool reused = false;  ///< from the store
  bool operator==(const PricedCandidate&) const = default;
};

/// Of different candidates since the pricer was made; equal ones count once per call.
struct PriceCounts {
  std::size_t measured = 0;  ///< timed now
  std::size_t reused = 0;    ///< answered by the store, whatever the answer
  std::size_t refused = 0;   ///< infeasible, found now or known before
};

/// One thread. Registry and store outlive it.
class Pricer {
 public:
  Pricer(PricerOptions options, Registry& registry, Store& store);

  /// One list per request, one entry per candidate, in order. `graph` is the one in graph_file.
  /// Error worker/cannot-start, or that of a job whose files cannot be read; a candidate's failure is its refusal.
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> price(const Graph& graph,
                                                                        std::span<const PriceRequest> requests,
                                                                        const MeasureLimits& limits = {});
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> price(std::span<const ConversionRequest> requests,
                                                                        const MeasureLimits& limits = {});

  /// The artifact for exactly these weights: from the store if it was verified before, else compiled and verified now.
  /// Outer errors as price(), also artifact/cannot-write and measure/stopped; an inner refusal says that it does not
  /// work here. A portable artifact (CompileOptions) of a candidate that also has a usual one is verified with the
  /// baseline instance.
  [[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> artifact_for(const Graph& graph, const Region& region,
                                                                            const CandidateSpec& candidate,
                                                                            const std::stop_token& stop = {},
                                                                            bool portable = false);
  [[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> artifact_for(const Conversion& conversion,
                                                                            const std::string& backend,
                                                                            const std::stop_token& stop = {});

  /// Ends the worker: the next request is answered by a process in which nothing ran before.
  void leave_worker() { worker_.stop(); }

  [[nodiscard]] const PriceCounts& counts() const { return counts_; }
  /// What its keys say beside the region and the candidate.
  [[nodiscard]] const MeasureContext& context() const { return context_; }
  /// The least time of a worker's canary so far; 0 = nothing was timed.
  [[nodiscard]] std::int64_t quiet_ns() const { return quiet_ns_; }
  /// The one worker, for other jobs on the same files.
  [[nodiscard]] WorkerProcess& worker() { return worker_; }

 private:
  struct Pending {
    std::string key;
    CandidateSpec candidate;
  };
  /// Candidates to be measured against each other.
  struct Group {
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> repeated;
    std::optional<Conversion> conversion;
    std::string operators;         ///< for strikes
    std::string place;             ///< place_hash of the region
    const Graph* graph = nullptr;  ///< of the region
    std::vector<Pending> pending;
    bool portable = false;  ///< its artifact also holds code for the baseline instruction set
  };
  using Answers = std::map<std::string, PricedCandidate>;

  /// The key, or why the backend cannot be had.
  [[nodiscard]] std::expected<std::string, Refusal> key_of(const std::string& structure,
                                                           const CandidateSpec& candidate);
  [[nodiscard]] std::expected<std::string, Refusal> key_of(const Conversion& conversion, const std::string& backend);
  /// Answers from the store; false when it does not know.
  bool reuse(const std::string& key, Answers& answers);
  /// Answers from the store, or adds to the group.
  void look_up(const std::string& key, const CandidateSpec& candidate, Group& group, Answers& answers);
  [[nodiscard]] Result<void> run_groups(std::map<std::string, Group>& groups, const MeasureLimits& limits,
                                        Answers& answers);
  /// Leaves in the group what is ours to measure and returns the rest of what is pending: what other tuners measure.
  [[nodiscard]] Group take_leases(Group& group, Answers& answers);
  /// Takes what is there by now and measures what others gave up, until nothing is left.
  [[nodiscard]] Result<void> await_others(std::vector<Group> theirs, const MeasureLimits& limits, Answers& answers);
  [[nodiscard]] Result<void> run_leased(Group group, const std::stop_token& stop, Answers& answers);
  [[nodiscard]] Result<void> run_group(Group group, const std::stop_token& stop, Answers& answers);
  /// The usual one; leases last as long as it allows.
  [[nodiscard]] Allowance allowance_with_leases();
  [[nodiscard]] PriceJob job_for(const Group& group, Effort effort) const;
  void accept(const Group& group, const PriceAnswer& answer, Answers& answers);
  void note(const Pending& pending, Cost cost, Answers& answers, const Samples& samples = {});
  /// A failure becomes a reproduction bundle.
  void keep_repro(const Group& group, const CandidateSpec& candidate, const Refusal& refusal, const std::string& stage);
  /// Refuses what is pending of backends that died too often on such operators.
  void leave_out_blocked(Group& group, Answers& answers);
  void strike(const std::string& backend, const Group& group, const Refusal& why);
  void refuse_all(const Group& group, const Refusal& refusal, const std::string& stage, Answers& answers);
  [[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> prepare(Group group, std::span<const ValueId> constants,
                                                                       const std::stop_token& stop);
  void report(std::size_t done, std::size_t total) const;

  PricerOptions options_;
  Registry& registry_;
  Store& store_;
  WorkerProcess worker_;
  MeasureContext context_;
  PriceCounts counts_;
  Strikes strikes_;
  FactsKeeper facts_;
  std::int64_t quiet_ns_ = 0;  ///< of the workers' canary
};

}  // namespace collage
