// Made-up backends over real networks, with costs that follow the work of each operator, so that proposing and choosing
// can be timed without measuring anything.
#pragma once

#include <cstdint>
#include <vector>

#include "region/candidates.h"
#include "search/search.h"

namespace collage::bench {

/// Two engines, a library of patterns in three formats, a compiler that fuses element-wise chains, and a fallback.
[[nodiscard]] std::vector<Proposer> proposers(const Graph& graph);

/// Nanoseconds: arithmetic and bytes of the region's nodes at a speed of the backend and format, varied by a hash of
/// the operators and shapes, so that equal blocks cost the same and no backend wins everywhere.
[[nodiscard]] std::int64_t cost_ns(const Graph& graph, const Region& region, const Candidate& candidate);

[[nodiscard]] std::vector<SearchCandidate> priced(const Graph& graph, const CandidatePool& pool);
[[nodiscard]] BoundaryTable boundaries(const Graph& graph);

/// Residual blocks (convolution, batch norm, activation, ...; seven nodes each), every one with another width.
[[nodiscard]] Graph residual_chain(std::size_t nodes);

}  // namespace collage::bench
