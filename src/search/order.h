// The order in which the search covers a graph: topological, with few live values at any point, because the number of
// states grows with the places of live values.
// In:  a graph. Out: nodes by position. Cost: O(nodes x ready nodes).
// How: list scheduling. Of the ready nodes, take the one that ends most live values and creates fewest; on a tie the
//       one that became ready last. The result is used only if its sum of live values is smaller than in the graph's
//       own order.
// Source: list scheduling by register pressure (Goodman and Hsu, ICS 1988).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace collage {

/// Node indices in search order.
[[nodiscard]] std::vector<std::uint32_t> search_order(const Graph& graph, const Uses& uses);

/// Sum over positions of the values alive there: made before and read at or after.
[[nodiscard]] std::size_t live_sum(const Graph& graph, const Uses& uses, const std::vector<std::uint32_t>& order);

}  // namespace collage
