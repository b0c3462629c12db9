// Prices candidates: takes their costs from the store, or has a worker process measure them.
// In:  regions or conversions, each with its candidates. Out: a cost for each candidate.
// How: candidates of one structure form one job, which is measured once however often the structure occurs. All jobs go
//       to one worker, one after the other, so that nothing of ours runs beside a measurement (group_runner.h). Each
//       cost is stored as soon as it arrives (answer_book.h). Costs that another tuner with the same store is measuring
//       are left until last; then the tuner waits for them (group_turns.h).
#pragma once

#include <expected>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "measure/answer_book.h"
#include "measure/group_runner.h"
#include "measure/price_group.h"
#include "store/artifact_file.h"
#include "store/keys.h"
#include "store/region_facts.h"
#include "store/store.h"

namespace collage {

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

/// One thread. Registry and store outlive it.
class Pricer {
 public:
  Pricer(PricerOptions options, Registry& registry, Store& store);

  /// One list per request, one entry per candidate, in order. `graph` is the one in graph_file. With kSample as effort
  /// costs may be sampled.
  /// Error worker/cannot-start, or that of a job whose files cannot be read; a candidate's failure is its refusal.
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> price(const Graph& graph,
                                                                        std::span<const PriceRequest> requests,
                                                                        const MeasureLimits& limits = {},
                                                                        Effort effort = Effort::kTime);
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> price(std::span<const ConversionRequest> requests,
                                                                        const MeasureLimits& limits = {},
                                                                        Effort effort = Effort::kTime);

  /// Makes what artifact_for() will be asked for and the store does not have, on all processors. Begins nothing after
  /// `until`.
  void make_ahead(const Graph& graph, std::span<const PriceRequest> requests,
                  std::span<const ConversionRequest> conversions, Clock::time_point until,
                  const std::stop_token& stop = {});

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

  /// Ends the workers: the next request is answered by processes in which nothing ran before.
  void leave_workers() { runner_.leave_workers(); }

  [[nodiscard]] const PriceCounts& counts() const { return book_.counts(); }
  /// What its keys say beside the region and the candidate.
  [[nodiscard]] const MeasureContext& context() const { return context_; }
  /// The least time of a worker's canary so far; 0 = nothing was timed.
  [[nodiscard]] std::int64_t quiet_ns() const { return runner_.quiet_ns(); }
  /// The one worker, for other jobs on the same files.
  [[nodiscard]] WorkerProcess& worker() { return runner_.worker(); }

 private:
  using Keys = std::vector<std::vector<std::expected<std::string, Refusal>>>;

  /// The key, or why the backend cannot be had.
  [[nodiscard]] std::expected<std::string, Refusal> key_of(const std::string& structure,
                                                           const CandidateSpec& candidate);
  [[nodiscard]] std::expected<std::string, Refusal> key_of(const Conversion& conversion, const std::string& backend);
  /// Whether the store has it, or knows that there is none.
  [[nodiscard]] bool knows_artifact(const std::string& key, const std::string& place);
  /// Of a region, without candidates.
  [[nodiscard]] PriceGroup group_of(const Graph& graph, const Region& region);
  [[nodiscard]] static PriceGroup group_of(const Conversion& conversion);
  /// Answers from the store, or adds to the group.
  void look_up(const std::string& key, const CandidateSpec& candidate, PriceGroup& group, Answers& answers);
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> priced(const Keys& keys,
                                                                         std::map<std::string, PriceGroup>& groups,
                                                                         const MeasureLimits& limits, Answers& answers);

  PricerOptions options_;
  Registry& registry_;
  Store& store_;
  MeasureContext context_;
  AnswerBook book_;
  GroupRunner runner_;
  FactsKeeper facts_;
  ConstantHashes hashes_;  ///< of the one graph
};

}  // namespace collage
