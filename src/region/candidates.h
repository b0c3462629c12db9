// Proposes candidates: which regions each backend is asked to run.
// In: verified graph, one Proposer per backend. Out: CandidatePool: regions, candidates, refusals.
// How: single nodes, pattern chains, growth like a compiler's, and for engines maximal supported regions and
//      block-aligned node ranges between narrow places.
// Not here: timing (measure/), choosing (search/).
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/refusal.h"
#include "region/region.h"
#include "region/rules.h"

namespace collage {

/// A backend as the proposer sees it.
struct Proposer {
  std::string backend;  ///< instance name
  PartitionRules rules;
  std::function<std::expected<std::vector<Variant>, Refusal>(const Region&)> support;
};

/// A backend's label on nodes inside a region: which of its patterns they are.
struct Match {
  std::string label;
  NodeSet nodes;
  bool operator==(const Match&) const = default;
};

struct Candidate {
  std::uint32_t region = 0;  ///< index into CandidatePool::regions
  std::string backend;
  Variant variant;
  std::vector<Match> matches = {};  ///< disjoint, inside the region; empty when the backend takes it as it is
  std::string origin = {};          ///< the trail of rules that proposed the region, for explanations
};

struct RegionRefusal {
  std::uint32_t region = 0;
  std::string backend;
  Refusal refusal;
};

struct CandidatePool {
  std::vector<Region> regions;
  std::vector<Candidate> candidates;
  std::vector<RegionRefusal> refusals;
};

struct ProposeOptions {
  std::size_t max_pattern_nodes = 12;
  std::size_t max_ranges_per_engine = 40;
  std::size_t max_crossing_values = 1;  ///< a narrow place has at most this many live values
};

[[nodiscard]] CandidatePool propose(const Graph& graph, const Uses& uses, std::span<const Proposer> proposers,
                                    const ProposeOptions& options = {});

/// Positions p in topological order, 0 and node count included, where at most `max_crossing` computed values made
/// before p are read at or after p.
[[nodiscard]] std::vector<std::size_t> narrow_places(const Graph& graph, const Uses& uses, std::size_t max_crossing);

/// One line per candidate, for golden tests and `check --dump candidates`.
[[nodiscard]] std::string to_text(const Graph& graph, const CandidatePool& pool);

}  // namespace collage
