// Level 1 of the search: chooses the cover with the least total cost under a table of costs.
// In:  a verified graph, candidates with costs, conversions with costs.
// Out: the best cover, its cost, and a proven lower bound.
// How: A* over states (covered nodes, places that hold each live value); state_search.cpp begins with an example. From
//       the first uncovered node in search order (search/order) the search may run any ready candidate that covers it,
//       or any ready candidate that produces what such a candidate still waits for. Every path is therefore a legal
//       schedule, and every legal cover has a path. The admissible lower bound is the exact cost of covering the rest
//       when conversions are free (search/lattice). State A dominates state B with the same covered nodes when A's cost
//       plus the conversions to B's places is at most B's cost; B is then dropped. Open states are kept by number of
//       covered nodes. A problem that is too large to be solved exactly thus becomes a beam search: the cheapest states
//       of each layer are kept, the beam is widened until the budget of states is spent (and narrowed again where
//       comparing states would take too long), and the bound of the dropped states is reported.
//       A value on its way to a place may stop at others that readers to come save by; of trees of conversions to more
//       than three places of one value the cheapest may be missed, beside which the cover is still exact.
// Cost: states x candidates at a node x live values.
// Not here: proposing (region/), timing (measure/), effects that do not add up (search/evolve).
// Source: Collage (Jeon et al., PACT 2022), operator-level placement. Differs: places and legal schedules are part of
//       the state. Widened beams: Zhang, Complete Anytime Beam Search, AAAI 1998.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/candidates.h"
#include "region/cover.h"
#include "region/place.h"
#include "region/variant.h"

namespace collage {

/// A candidate as the search sees it: only feasible ones are passed in.
struct SearchCandidate {
  const Region* region = nullptr;
  std::string backend;
  Variant variant;
  Cost cost;                     ///< measured or estimated
  std::string location = kHome;  ///< where it runs and its ports lie
  std::int64_t workspace_bytes = 0;
  std::span<const Match> matches = {};  ///< for the region of its step
};

/// Time and maker of a conversion or transfer of one value; nothing when impossible. A cost of 0 ns is a view.
struct BoundaryChoice {
  std::string backend;
  Cost cost;
};
using BoundaryTable = std::function<std::optional<BoundaryChoice>(ValueId value, const Place& from, const Place& to)>;

struct SearchOptions {
  std::size_t max_states = 1500000;  ///< made in all, over all widths of the beam
  std::size_t first_width = 64;      ///< states per number of covered nodes in the first pass
  std::int64_t launch_ns = 500;      ///< added to every kernel and conversion that is not a view: what a step costs
                                     ///< beside the time of its kernel measured alone
  /// Bytes that values and workspaces may take at a location at any time, by location. Model inputs and outputs at
  /// home are the caller's.
  std::map<std::string, std::int64_t> capacity;
  double ns_per_byte = 0;  ///< weight of the peak of bytes at home in the objective; 0 = time alone
};

struct SearchResult {
  Cover cover;
  bool exact = true;            ///< no state was dropped by a limit; under a limit of memory a cover is the best found
  std::int64_t bound_ns = 0;    ///< no cover of these candidates costs less; equal to the cost when exact
  std::int64_t peak_bytes = 0;  ///< at home, where memory counts; the plan's own memory map has the last word
  std::size_t states = 0;
};

/// Error search/uncoverable naming the first node without a usable candidate.
[[nodiscard]] Result<SearchResult> choose_cover(const Graph& graph, const Uses& uses,
                                                std::span<const SearchCandidate> candidates,
                                                const BoundaryTable& boundaries, const SearchOptions& options = {});

/// One line per step, "~" before the nodes it repeats; for golden tests and `tune --dump cover`.
[[nodiscard]] std::string to_text(const Graph& graph, const Cover& cover);

}  // namespace collage
