// Counts the bytes of weights: the constants of a graph, or those that a region reads.
// In:  a graph, perhaps a region of it. Out: bytes. Cost: linear in the values looked at.
#pragma once

#include <cstdint>

#include "region/region.h"

namespace collage {

[[nodiscard]] std::int64_t weight_bytes(const Graph& graph);
[[nodiscard]] std::int64_t weight_bytes(const Graph& graph, const Region& region);

}  // namespace collage
