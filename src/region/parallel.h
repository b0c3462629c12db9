// Products that read one value side by side: queries, keys and values of attention, branches of an inception block.
// In: proposals of single nodes. Out: one proposal for each group of two and more, all of the group.
// Cost: one pass over the readers of each value.
// Source: the CombineParallelDense and CombineParallelConv2D passes of TVM, as proposals instead of rewrites.
#pragma once

#include <vector>

#include "region/partition_rule.h"

namespace collage {

[[nodiscard]] std::vector<Proposal> parallel_products(const Graph& graph, const Uses& uses,
                                                      const std::vector<Proposal>& singles);

}  // namespace collage
