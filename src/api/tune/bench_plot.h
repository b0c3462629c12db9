// The times of a bench as a picture: an SVG that needs nothing else.
// In:  reports. Out: SVG text: for each contender a row with a dot for each round, a box from the first to the third
//       quartile, a line at the median, and how many times faster the plan is. The axis begins at 0; times beyond its
//       end are counted there.
#pragma once

#include <string>
#include <vector>

#include "api/tune/bench.h"

namespace collage {

[[nodiscard]] std::string plot_of(const std::vector<BenchReport>& reports);

}  // namespace collage
