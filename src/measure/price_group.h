// What pricing works on: candidates that are measured against each other, and the answers so far.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "measure/jobs.h"
#include "measure/measure_options.h"
#include "measure/repro_keeper.h"

namespace collage {

struct PricerOptions {
  MeasureOptions measure;
  MeasuredGraph graph;               ///< that price() is given
  std::int64_t displaced_bytes = 0;  ///< of the caches before each timed run (displacer.h)
  Progress progress;                 ///< may be empty
  ReproKeeper* repros = nullptr;     ///< told of failures; outlives the pricer
};

struct PricedCandidate {
  Cost cost;            ///< measured, sampled or infeasible; unknown when stopped before its turn
  bool reused = false;  ///< from the store
  bool operator==(const PricedCandidate&) const = default;
};

/// Of different candidates since the pricer was made; equal ones count once per call.
struct PriceCounts {
  std::size_t measured = 0;  ///< timed now, if only by a few runs
  std::size_t reused = 0;    ///< answered by the store, whatever the answer
  std::size_t refused = 0;   ///< infeasible, found now or known before
};

/// By key.
using Answers = std::map<std::string, PricedCandidate>;

struct PendingCandidate {
  std::string key;  ///< of its answer
  CandidateSpec candidate;
};

/// Candidates to be measured against each other.
struct PriceGroup {
  std::vector<std::uint32_t> nodes = {};
  std::vector<std::uint32_t> repeated = {};
  std::optional<Conversion> conversion = std::nullopt;
  std::string operators = {};    ///< for strikes
  std::string place = {};        ///< place_hash of the region
  const Graph* graph = nullptr;  ///< of the region
  std::vector<PendingCandidate> pending = {};
  Effort effort = Effort::kTime;  ///< or kSample
  bool portable = false;          ///< its artifact also holds code for the baseline instruction set
};

/// What conversions count as among the kinds of operators.
inline constexpr const char* kConversion = "conversion";

inline std::vector<std::uint32_t> indices_of(const NodeSet& nodes) {
  std::vector<std::uint32_t> indices;
  for (const std::size_t node : nodes.members()) indices.push_back(static_cast<std::uint32_t>(node));
  return indices;
}

}  // namespace collage
