// Makes a case of a region: names that say nothing of the model, weights by their extents and range only.
// In: a graph and a cut. Out: a case without model and share.
// Cost: the region's nodes and constants.
// Source: ours.
#pragma once

#include "bench/operators/operator_case.h"
#include "bench/operators/region_cutter.h"

namespace collage::bench {

/// Error of normalised(), which no region of a verified graph gives.
[[nodiscard]] Result<OperatorCase> make_case(const Graph& graph, const Cut& cut);

/// What two cases have in common when the same code would run them: the graph without the ranges.
[[nodiscard]] std::string key_of(const OperatorCase& which);

/// "3x3-64to128-56x56-relu", "softmax-12x128x128": what a person calls it; not unique.
[[nodiscard]] std::string describe(const Graph& graph, const NodeSet& nodes, std::size_t anchor);

}  // namespace collage::bench
