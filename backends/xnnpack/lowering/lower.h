// Lowers a region to a program: each node by its operator's rule, in topological order.
// In:  a graph, a region, a layout, a form of bytes. Out: Lowered, or why the library cannot compute the region in this
// layout. Cost: linear in the region. No library calls, so that a program may turn out to be one the library refuses.
#pragma once

#include <string>

#include "lowering/composer.h"

namespace collage::xnnpack {

[[nodiscard]] std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, Layout layout,
                                                    ByteForm form = ByteForm::kSigned);

/// Operators between heads and behind them; the alternatives of a pattern entry.
[[nodiscard]] std::string step_operators();

}  // namespace collage::xnnpack
