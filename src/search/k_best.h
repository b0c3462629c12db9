// The K best covers that differ in more than the choice among copies of one block.
// In:  a placement problem; a class for each candidate (equal for copies of one computation on one backend).
// Out: covers, cheapest first; each lacks some class that every cheaper one uses.
// How: best-first search over sets of banned classes. Each child of a cover bans one more of the classes that it uses.
//       Classes with lower numbers are banned first, which matters when a limit ends the search early.
// Cost: one search for each class of each cover reported, within the limits.
// Source: Lawler, A procedure for computing the K best solutions, Management Science 1972, with bans only.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "search/search.h"

namespace collage {

struct KBestOptions {
  std::size_t count = 4;
  std::size_t max_searches = 200;
  /// No search is begun when those before came to so much work: states made and candidates looked at.
  std::size_t max_work = std::numeric_limits<std::size_t>::max();
};

struct KBestCovers {
  std::vector<SearchResult> covers = {};  ///< cheapest first, memory weighed as the search weighs it
  bool complete = true;  ///< these are the best; false when a limit, also one of a search, may have hidden a better one
};

/// `classes` by candidate. The first is choose_cover's; its error when there is none. Fewer than `count` when there are
/// no more, or a limit is reached.
[[nodiscard]] Result<KBestCovers> k_best_covers(const Graph& graph, const Uses& uses,
                                                std::span<const SearchCandidate> candidates,
                                                std::span<const std::uint32_t> classes, const BoundaryTable& boundaries,
                                                const SearchOptions& options, const KBestOptions& k_best = {});

}  // namespace collage
