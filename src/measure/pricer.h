// Prices candidates for the search: from the cost store, else from a worker process.
// In: regions or conversions and the candidates for each. Out: a cost for each candidate.
// How: candidates of one structure are one job, measured once whatever the number of places; jobs go to one worker, one
// after the other, so nothing is ever timed next to something else of ours. A worker that dies or hangs costs only the
// candidate at work: the job is done again without it in a fresh worker. Everything is stored as it arrives. What
// another tuner measures at this moment for the same store is left to last and then waited for.
// Not here: which candidates to price (search/, tune/), timing itself (price_job).
#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "measure/jobs.h"
#include "measure/repro_keeper.h"
#include "store/artifact_file.h"
#include "store/keys.h"
#include "store/region_facts.h"
#include "store/store.h"
#include "store/strikes.h"
#include "worker/worker_process.h"

namespace collage {

struct PricerOptions {
  std::vector<std::string> worker_command;  ///< argv that starts a worker; the socket's number is appended
  std::string graph_file;                   ///< of write_graph_file, the graph that price() is given
  std::string record_file;                  ///< of a record job on that graph
  std::string model = {};                   ///< file name of the user's model, to describe regions in the store
  CompileOptions compile;                   ///< threads and accuracy
  std::int64_t displaced_bytes = 0;         ///< of the caches before each timed run (displacer.h)
  std::uint64_t seed = 1;
  std::chrono::nanoseconds compile_limit = std::chrono::seconds(60);
  std::chrono::nanoseconds run_floor = std::chrono::seconds(10);  ///< least time allowed besides 20 x expected
  Progress progress;                                              ///< may be empty
  ReproKeeper* repros = nullptr;                                  ///< told of failures; outlives the pricer
  std::stop_token stop;                                           ///< ends the work within about 100 ms
  /// Past it only conversions and regions of a single node are measured, or waited for while another tuner measures.
  Clock::time_point deadline = Clock::time_point::max();
  /// Past it nothing is.
  Clock::time_point latest = Clock::time_point::max();
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
                                                                        std::span<const PriceRequest> requests);
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> price(std::span<const ConversionRequest> requests);

  /// The artifact for exactly these weights: from the store when it was verified before, else compiled and verified
  /// now. Outer error as price(), also artifact/cannot-write and measure/stopped; inner: it does not work here.
  /// A portable one (CompileOptions), of what has a usual one, is verified as the baseline instance runs it.
  [[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> artifact_for(const Graph& graph, const Region& region,
                                                                            const CandidateSpec& candidate,
                                                                            bool portable = false);
  [[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> artifact_for(const Conversion& conversion,
                                                                            const std::string& backend);

  /// Ends the worker: the next request is answered by a process in which nothing ran before.
  void leave_worker() { worker_.stop(); }

  [[nodiscard]] const PriceCounts& counts() const { return counts_; }
  /// What its keys say beside the region and the candidate.
  [[nodiscard]] const MeasureContext& context() const { return context_; }
  /// In place of the deadlines it was made with.
  void allow_until(Clock::time_point deadline) { options_.deadline = options_.latest = deadline; }
  /// The least time of a worker's canary so far; 0 = nothing was timed.
  [[nodiscard]] std::int64_t quiet_ns() const { return quiet_ns_; }
  /// The one worker, for other jobs on the same files.
  [[nodiscard]] WorkerProcess& worker() { return worker_; }
  void set_stop(std::stop_token stop) { options_.stop = std::move(stop); }

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
  [[nodiscard]] bool is_too_late(const Group& group) const;
  [[nodiscard]] Result<void> run_groups(std::map<std::string, Group>& groups, Answers& answers);
  /// Leaves in the group what is ours to measure and returns the rest of what is pending: what other tuners measure.
  [[nodiscard]] Group take_leases(Group& group, Answers& answers);
  /// Takes what is there by now and measures what others gave up, until nothing is left.
  [[nodiscard]] Result<void> await_others(std::vector<Group> theirs, Answers& answers);
  [[nodiscard]] Result<void> run_leased(Group group, Answers& answers);
  [[nodiscard]] Result<void> run_group(Group group, Answers& answers);
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
  [[nodiscard]] Result<std::expected<StoredArtifact, Refusal>> prepare(Group group, std::span<const ValueId> constants);
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
