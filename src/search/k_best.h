// The K best covers that differ in more than copies of one block.
// In: a placement problem, a class for each candidate (equal for copies of one computation on one backend). Out:
//     covers, cheapest first, each of which does without a class that every cheaper one uses.
// How: best first over sets of banned classes. The children of a cover ban one class that it uses each.
// Cost: one search per class of each cover given out, bounded by `max_searches`.
// Source: Lawler, A procedure for computing the K best solutions, Management Science 1972, with bans only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/search.h"

namespace collage {

struct KBestOptions {
  std::size_t count = 4;
  std::size_t max_searches = 200;
};

/// `classes` by candidate. The first is choose_cover's; its error when there is none. Fewer than `count` when there are
/// no more, or the searches are used up.
[[nodiscard]] Result<std::vector<SearchResult>> k_best_covers(const Graph& graph, const Uses& uses,
                                                              std::span<const SearchCandidate> candidates,
                                                              std::span<const std::uint32_t> classes,
                                                              const BoundaryTable& boundaries,
                                                              const SearchOptions& options,
                                                              const KBestOptions& k_best = {});

}  // namespace collage
