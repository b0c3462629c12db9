// Lazy measuring: solve with lower bounds, measure only what the best cover uses, solve again, until all of it is
// measured.
// In: candidates with measured costs or lower bounds (Estimated), someone who measures. Out: the cover that measuring
//     everything would have given, as long as the bounds are bounds.
// Cost: one search a round; every round measures something new.
// Source: Dellin and Srinivasa, A unifying formalism for shortest path problems with expensive edge evaluations
//         (LazySP), ICAPS 2016.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/search.h"

namespace collage {

/// Costs for these candidates, in order; an Unknown one says that measuring has ended (a budget, a stop).
using MeasureCandidates = std::function<Result<std::vector<Cost>>(std::span<const std::uint32_t> candidates)>;

struct LazyResult {
  SearchResult search;
  std::size_t rounds = 0;
  std::size_t measured = 0;
  bool complete = true;  ///< every candidate of the cover is measured; the search's gap holds
};

/// Candidates are updated with what was measured. Errors of choose_cover and of `measure`.
[[nodiscard]] Result<LazyResult> choose_lazily(const Graph& graph, const Uses& uses,
                                               std::vector<SearchCandidate>& candidates,
                                               const BoundaryTable& boundaries, const MeasureCandidates& measure,
                                               const SearchOptions& options = {});

/// The candidates of a cover whose cost is a bound only, ascending.
[[nodiscard]] std::vector<std::uint32_t> unmeasured_of(const Cover& cover, std::span<const SearchCandidate> candidates);

}  // namespace collage
