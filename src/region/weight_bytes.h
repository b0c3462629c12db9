// Counts the bytes of weights: the constants of a graph, or those that a region reads.
// In:  a graph, perhaps a region of it. Out: bytes. Cost: linear in the values looked at.
#pragma once

#include <cstdint>

#include "region/region.h"

namespace collage {

/// Of weights: a model that has no more may be in the memory of several workers at once. An engine that compiles takes
/// several times as much.
inline constexpr std::int64_t kMostBytesAtOnce = std::int64_t{1} << 30U;

[[nodiscard]] std::int64_t weight_bytes(const Graph& graph);
[[nodiscard]] std::int64_t weight_bytes(const Graph& graph, const Region& region);

}  // namespace collage
