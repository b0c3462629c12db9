// Proposes neighbouring steps of one backend as one step: new candidates, which are measured like all others.
// In:  a cover, the backends as proposers, the pool. Out: candidates for unions of the cover's steps about which no
//       backend has been asked yet.
// How: the unions of search/neighbour_unions.h that the backend supports; the smallest first, a limited number.
// Cost: one question to a backend for each union.
// Source: MaxCoalesce of TVM's RFC 62 (Collage), which merges without measuring.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "region/candidates.h"
#include "region/cover.h"

namespace collage {

/// Whether a backend may run these nodes as one step: pins, bans, rules of the user.
using MayRun = std::function<bool(const NodeSet& nodes, const std::string& backend)>;

/// A pool of its own, of at most `most` regions; refusals included. Regions that `known` has for the backend are left
/// out.
[[nodiscard]] CandidatePool neighbour_candidates(const Graph& graph, const Uses& uses, const Cover& cover,
                                                 std::span<const Proposer> proposers, const MayRun& may_run,
                                                 const CandidatePool& known, std::size_t most);

/// Adds regions, candidates and refusals of `fresh` to the pool.
void append(CandidatePool fresh, CandidatePool& pool);

}  // namespace collage
