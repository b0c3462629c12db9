// The jobs a supervisor gives to a worker, as values with a JSON form, and the handlers that do them.
//   record   run a whole graph on given inputs and write every value, or only the outputs, to a record
//   price    compile, verify and time the candidates of one region or conversion; or only compile or sample them
//   prepare  the same without timing: for artifacts of candidates whose cost is known
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "region/cost.h"
#include "region/value_json.h"
#include "worker/worker.h"

namespace collage {

struct RecordJob {
  std::string graph_file;   ///< of write_graph_file
  std::string inputs_file;  ///< a record that holds the graph's inputs
  std::string record_file;  ///< written: inputs and what was asked for
  std::string backend;      ///< instance that runs the whole graph
  bool all_values = true;   ///< false: only the graph's outputs
  /// Run these ONNX bytes instead of the graph, which then gives names and types only; outputs alone can be had.
  std::optional<std::string> model_file;
  int threads = 1;
  bool slacks = false;  ///< of a graph with quantisers also how much rounding leaves open (rounding_slack.h)
};

/// A label of Region::matches, told by positions among the region's nodes: those of one structure are the same at each
/// of its places in a graph.
struct RegionLabel {
  std::string label;
  std::vector<std::uint32_t> nodes;  ///< 0 = the region's first node
  bool operator==(const RegionLabel&) const = default;
};
[[nodiscard]] std::vector<RegionLabel> labels_of(const Region& region, std::span<const Match> matches);
/// The way back. Labels of nodes that the region does not have are left out.
[[nodiscard]] std::vector<Match> matches_of(const Region& region, std::span<const RegionLabel> labels);

[[nodiscard]] Json to_json(const std::vector<RegionLabel>& labels);
/// Throws Json::exception on malformed input, so call it inside read_json.
[[nodiscard]] std::vector<RegionLabel> labels_from(const Json& json);

/// A candidate without its region, which the job names once. Conversions have no variant.
struct CandidateSpec {
  std::string backend;  ///< instance name
  Variant variant;
  std::vector<RegionLabel> labels = {};
  bool operator==(const CandidateSpec&) const = default;
};

enum class Effort : std::uint8_t {
  kCompile,  ///< only that: nothing is loaded
  kPrepare,  ///< verify only
  kSample,   ///< verify on the recorded inputs, then time a few runs: an estimate
  kTime      ///< verify, then time: a few milliseconds per cheap candidate
};

/// What is priced: a region of a graph with a record of its values, or a conversion.
struct PriceTarget {
  std::string graph_file = {};
  std::string record_file = {};
  std::vector<std::uint32_t> nodes = {};      ///< the region,
  std::vector<std::uint32_t> repeated = {};   ///< those of its nodes that it computes for itself only, or
  std::optional<Conversion> conversion = {};  ///< a conversion, which needs no graph and no record
};

/// How candidates are timed.
struct PriceTiming {
  std::int64_t quiet_ns = 0;         ///< the canary's, from earlier answers; 0 at first
  std::int64_t displaced_bytes = 0;  ///< of the caches before each timed run (displacer.h)
};

/// How numbers are judged.
struct PriceJudging {
  std::uint64_t seed = 1;      ///< of the inputs beside the recorded ones; timing takes its random order from it, too
  bool recorded_only = false;  ///< judge on the recorded inputs only: the reference ended a worker before
  /// By candidate: it gave the right numbers on the other inputs in another worker; no entry: it is judged on them now.
  std::vector<bool> verified = {};
};

struct PriceJob {
  PriceTarget target;
  std::vector<CandidateSpec> candidates;  ///< timed against each other
  /// By candidate: the hash of an artifact in the folder that was compiled for it before; empty, or no entry: it is
  /// compiled now.
  std::vector<std::string> compiled = {};
  CompileOptions options;
  std::string artifact_folder;  ///< where what they compile is kept
  Effort effort = Effort::kTime;
  PriceTiming timing = {};
  PriceJudging judging = {};
};

struct CandidateAnswer {
  Cost cost;             ///< measured or infeasible; when all is well, unknown after kPrepare and sampled after kSample
  std::string artifact;  ///< content hash in the job's folder; empty for views and infeasible ones
  Samples samples = {};  ///< of a measured cost
  std::string stage = {};  ///< that refused it; empty when nothing did
  bool operator==(const CandidateAnswer&) const = default;
};

struct PriceAnswer {
  std::vector<CandidateAnswer> candidates;  ///< in the job's order
  bool harmed = false;        ///< a candidate misbehaved in a way that may have harmed the worker: start a fresh one
  std::int64_t quiet_ns = 0;  ///< the canary's, for the next job
};

/// The `type` of a job is set by these.
[[nodiscard]] Json to_json(const RecordJob& job);
[[nodiscard]] Json to_json(const PriceJob& job);
[[nodiscard]] Json to_json(const PriceAnswer& answer);
[[nodiscard]] Json to_json(const std::optional<Conversion>& conversion);
[[nodiscard]] Result<RecordJob> record_job_from(const Json& json);
[[nodiscard]] Result<PriceJob> price_job_from(const Json& json);
[[nodiscard]] Result<PriceAnswer> price_answer_from(const Json& json);

/// Throws Json::exception on malformed input, so call it inside read_json.
[[nodiscard]] std::optional<Conversion> conversion_from(const Json& json);

/// What a worker of this program serves. The handlers share what they keep between jobs (graph, record, conversion
/// kernels); use them from one thread, with one registry that outlives them.
[[nodiscard]] std::vector<Handler> measure_handlers();

}  // namespace collage
