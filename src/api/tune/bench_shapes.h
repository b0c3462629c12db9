// Times a plan of many shapes at each of its cases, or at points of its domain when it has none: one bench
// (api/tune/bench.h) for each, in one table.
// In:  as for bench. Out: a report for each case, or for the one shape that the bindings give, or for a plan of fixed
//       shapes.
// Cost: the given seconds, divided among the shapes, and loading.
#pragma once

#include <string>
#include <vector>

#include "api/tune/bench.h"

namespace collage {

[[nodiscard]] Result<std::vector<BenchReport>> bench_shapes(const BenchOptions& options, Registry& registry);

/// One report as bench shows it; of several a line each and the geometric mean of the ratios. JSON: schema
/// collage.bench-shapes/1, `shapes` with a collage.bench/1 each.
[[nodiscard]] std::string to_text(const std::vector<BenchReport>& reports);
[[nodiscard]] std::string to_json(const std::vector<BenchReport>& reports);

}  // namespace collage
