// Lists the covers that are worth confirming: the best over all backends, and the best with fewer backends. Costs
// measured alone do not add up exactly, so a plan with fewer libraries may be faster end to end.
// In:  the pool, costs, backends. Out: named covers.
// Cost: one choose_cover for each set of backends.
// Source: the single-backend baselines of Collage (Jeon et al., PACT 2022).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/roles.h"
#include "region/candidates.h"
#include "region/cost.h"
#include "search/search.h"
#include "tune/locations.h"

namespace collage {

/// A cover with a name for people: "mixed", "mixed, fewer steps", "mixed without C", "A alone"; where the filler takes
/// what they refuse ", rest by FILLER" follows.
struct NamedCover {
  std::string name;
  SearchResult result;
};

struct CoverRequest {
  const Graph* graph = nullptr;
  const CandidatePool* pool = nullptr;
  std::vector<Cost> costs;             ///< by candidate of the pool
  std::vector<std::string> backends;   ///< that may take nodes; host always may
  std::string filler = kFillerEngine;  ///< runs what the chosen backends of a smaller set all refuse
  bool host_fills = false;             ///< host, too, takes only what the backends refuse
  BoundaryTable conversions;
  Locations locations = {};
  SearchOptions search;
  std::vector<std::int64_t> least_ns = {};    ///< by candidate: what it takes at least, for proofs; empty for 0
  std::vector<std::int64_t> workspace_bytes;  ///< by candidate of the pool; empty = memory does not matter
  std::vector<std::pair<std::string, std::string>> conflicts;  ///< backends that cannot be in one plan
  bool best_alone = false;  ///< covers_to_confirm: none of fewer backends, for which there is no time
};

/// The usable candidates of all backends of the request and of the host; of the filler only where these have none.
[[nodiscard]] std::vector<SearchCandidate> usable_candidates(const CoverRequest& request);

/// The best cover over `allowed` backends (and host; and the filler where these cannot run a node), never with two that
/// conflict.
[[nodiscard]] Result<SearchResult> best_cover(const CoverRequest& request, const std::vector<std::string>& allowed);

/// A lower bound on the cost of every cover, whatever the candidates that were never measured would turn out to cost.
/// These count with request.least_ns. Bodies with steps of their own count as free, because only the chosen steps'
/// times are known. Equals the bound of best_cover when everything was measured or refused.
[[nodiscard]] Result<std::int64_t> proven_bound_ns(const CoverRequest& request);

/// best_cover of all backends first, then of every smaller set; equal covers once.
[[nodiscard]] Result<std::vector<NamedCover>> covers_to_confirm(const CoverRequest& request);

}  // namespace collage
