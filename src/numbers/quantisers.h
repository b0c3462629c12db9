// Finds values that are rounded real numbers, and by how much two correct backends may differ there: by one step.
#pragma once

#include "region/region.h"

namespace collage {

/// True when an integer value comes, through operators that only move elements, from an operator that rounds real
/// numbers.
[[nodiscard]] bool is_after_quantiser(const Graph& graph, const Uses& uses, ValueId value);

/// What one step is in an output of a region: 1 for integers after a quantiser, wherever that is; the scale for floats
/// that operators inside of the region dequantise from integers rounded there, then move, limit or add. 0 for others;
/// what products make of a step inside tells region_slacks() (rounding_slack.h).
[[nodiscard]] double step_of(const Graph& graph, const Uses& uses, const Region& region, ValueId output);

}  // namespace collage
