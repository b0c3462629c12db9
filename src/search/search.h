// Chooses the cover with the least total time under a cost table.
// In:  verified graph, candidates with costs, conversions with costs. Out: the best cover, its cost, what is proven.
// How: dynamic programme over states (covered nodes, materialised formats of live values). Covered sets stay closed
//      under predecessors: from the first uncovered node, run a ready candidate that covers it, or a ready one that
//      computes what a candidate covering it waits for. So every path is a legal schedule. State A drops B when A's
//      cost plus the conversions to B's formats is not more.
//      Exact for the costs given until a count of covered nodes holds more than max_states states; from there the
//      cheapest are kept and the result says so.
// Not here: proposing (region/), timing (measure/).
// Source: Collage (Jeon et al., PACT 2022), levels of its op-level placement; formats and schedules are ours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/candidates.h"
#include "search/cover.h"

namespace collage {

/// A candidate as the search sees it: only feasible ones are passed in.
struct SearchCandidate {
  const Region* region = nullptr;
  std::string backend;
  Variant variant;
  Cost cost;  ///< measured or estimated
};

/// Time and maker of a conversion of one value; nothing when impossible. A cost of 0 ns is a view.
struct ConversionChoice {
  std::string backend;
  Cost cost;
};
using ConversionTable =
    std::function<std::optional<ConversionChoice>(ValueId value, const Format& from, const Format& to)>;

struct SearchOptions {
  std::size_t max_states = 2000;  ///< per number of covered nodes
  std::int64_t launch_ns = 500;   ///< added to every kernel and conversion that is not a view: what a step costs beside
                                  ///< the time of its kernel measured alone
};

struct SearchResult {
  Cover cover;
  bool exact = true;          ///< no state was dropped by the limit
  std::int64_t bound_ns = 0;  ///< no cover of these candidates costs less; equal to the cost when exact
  std::size_t states = 0;
};

/// Error search/uncoverable naming the first node without a usable candidate.
[[nodiscard]] Result<SearchResult> choose_cover(const Graph& graph, const Uses& uses,
                                                std::span<const SearchCandidate> candidates,
                                                const ConversionTable& conversions, const SearchOptions& options = {});

/// One line per step, for golden tests and `tune --dump cover`.
[[nodiscard]] std::string to_text(const Graph& graph, const Cover& cover);

}  // namespace collage
