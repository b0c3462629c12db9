// Finds the best covers that differ in more than the choice among copies of one block, for explanations.
// In:  the pool, measured costs, backends. Out: covers, cheapest first, the best one included; or why there are none.
// How: search/k_best over classes of equal computations (computations.h). The classes banned first are those that are
//       expected to cost least to avoid: the sum, over all copies, of the difference to the least shares of other
//       candidates.
// Cost: some searches, limited by the work they do, so that the same inputs give the same covers on any machine: at
//       most about a second.
// Not here: how they differ from the plan that ships (tune/explain/explanation.h).
// Source: see search/k_best.h; least shares as in tune/explain/margins.h.
#pragma once

#include <string>
#include <vector>

#include "tune/price/covers.h"

namespace collage {

struct AlternativesOptions {
  std::size_t count = 5;             ///< the best one included
  std::size_t max_searches = 100;    ///< in all
  std::size_t max_work = 300'000;    ///< states and candidates looked at, in all but the last search
  std::size_t max_states = 100'000;  ///< of one search
};

struct Alternatives {
  std::vector<SearchResult> covers = {};
  bool complete = false;      ///< no other cover comes between
  std::string why_none = {};  ///< "" when they were searched
};

/// Only of what is measured, conversions too: a cover that hopes for a quick conversion is no answer. Under a limit of
/// memory covers are as small as the search counts; no memory map was made for them.
[[nodiscard]] Alternatives find_alternatives(CoverRequest request, const AlternativesOptions& options = {});

}  // namespace collage
