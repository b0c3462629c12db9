// Groups the candidates of a pool that are the same computation: equal structure, backend, variant and formats,
// anywhere in the graph. They have the same cost, and copies of one block differ in nothing else.
// In:  a graph, a pool. Out: a class for each candidate.
// Cost: one structure key for each region.
#pragma once

#include <cstdint>
#include <vector>

#include "region/candidates.h"

namespace collage {

/// By candidate; numbered from 0 in the order of the first candidate of each class.
[[nodiscard]] std::vector<std::uint32_t> computation_classes(const Graph& graph, const CandidatePool& pool);

}  // namespace collage
