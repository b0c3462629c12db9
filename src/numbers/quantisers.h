// Finds integer values that are rounded real numbers. Two correct backends may differ there by one.
#pragma once

#include "ir/graph.h"

namespace collage {

/// True when an integer value comes, through operators that only move elements, from an operator that rounds real
/// numbers.
[[nodiscard]] bool is_after_quantiser(const Graph& graph, const Uses& uses, ValueId value);

}  // namespace collage
