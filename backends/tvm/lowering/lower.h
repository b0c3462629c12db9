// Lowers a region to a description: each node by its operator's rule, in topological order.
// In:  a graph, a region, a layout. Out: Lowered, or why the region cannot be computed in this layout.
// Cost: linear in the region. TVM is not asked: it may refuse what is described.
#pragma once

#include <string>

#include "backends/tvm/lowering/describer.h"

namespace collage::tvm {

[[nodiscard]] std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, Layout layout);

/// Operators that compute each element on its own; the alternatives of a pattern entry.
[[nodiscard]] const std::string& element_operators();

}  // namespace collage::tvm
