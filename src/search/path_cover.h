// Writes the path that a search found down as the steps of a cover.
// In:  a problem; which option of which group comes when, and where values are brought on the way. Out: kernels, views
//       and the conversions and transfers between them, in order, each with its cost.
#pragma once

#include <span>

#include "region/cover.h"
#include "search/state_search.h"

namespace collage {

/// A path of search_states over the same problem. The steps cost what the search counted.
[[nodiscard]] Cover write_cover(const Problem& problem, std::span<const ChosenOption> path);

}  // namespace collage
