// Gives the values of a graph other ids, as texts and files note them.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace collage {

/// Value i becomes value to[i]. Precondition: `to` is a permutation of the graph's values.
void move_values(Graph& graph, const std::vector<std::uint32_t>& to);

}  // namespace collage
