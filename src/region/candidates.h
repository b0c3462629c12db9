// Proposes candidates: asks each backend whether it supports the regions that its rules name.
// In:  a verified graph and one Proposer for each backend. Out: a CandidatePool with regions, candidates and refusals.
// How: each backend's rule is enumerated (partition_rule.h). A region is built and checked once for all backends, and a
//       backend is asked about it once for each set of labels.
// Cost: linear in the number of proposals. Ten thousand nodes with sixty thousand proposals take a fraction of a
//       second, in addition to the time that the backends spend in support().
// Not here: timing (measure/), choosing (search/).
// Source: candidate generation of Collage (Jeon et al., PACT 2022).
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/refusal.h"
#include "region/region.h"
#include "region/rules/rules.h"
#include "region/variant.h"

namespace collage {

/// What proposing needs to know about a backend.
struct Proposer {
  std::string backend;  ///< instance name
  PartitionRules rules;
  std::function<std::expected<std::vector<Variant>, Refusal>(const Region&)> support;
};

struct Candidate {
  std::uint32_t region = 0;  ///< index into CandidatePool::regions
  std::string backend;
  Variant variant;
  std::vector<Match> matches = {};  ///< the labels under which the backend offers it (Region::matches)
  std::string origin = {};          ///< the rules that proposed the region, for explanations
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

/// The candidate's region with its labels, as it is passed to its backend.
[[nodiscard]] Region region_of(const CandidatePool& pool, const Candidate& candidate);

using ProposeOptions = RuleOptions;

/// By backend, what propose() gave for it alone.
using KnownProposals = std::map<std::string, CandidatePool>;

/// Backends whose proposals are known are not asked; the pool is the same as if they were.
[[nodiscard]] CandidatePool propose(const Graph& graph, const Uses& uses, std::span<const Proposer> proposers,
                                    const ProposeOptions& options = {}, const KnownProposals& known = {});

/// The sets of labels under which the rules propose exactly this region, determined from the region alone.
[[nodiscard]] std::vector<std::vector<Match>> labels_for(const PartitionRules& rules, const Graph& graph,
                                                         const Region& region);

/// Nodes that no candidate covers, ascending.
[[nodiscard]] std::vector<std::size_t> nodes_without_candidate(const Graph& graph, const CandidatePool& pool);

/// Positions p in topological order, 0 and node count included, where at most `max_crossing` computed values made
/// before p are read at or after p.
[[nodiscard]] std::vector<std::size_t> narrow_places(const Graph& graph, const Uses& uses, std::size_t max_crossing);

/// One line per candidate, for golden tests and `check --dump candidates`; "~" before a repeated node.
[[nodiscard]] std::string to_text(const Graph& graph, const CandidatePool& pool);

}  // namespace collage
