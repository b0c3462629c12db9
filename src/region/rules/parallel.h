// Groups products that read the same value: queries, keys and values of attention, branches of an inception block.
// In:  proposals of single nodes. Out: one proposal for each group of at least two, which contains the whole group.
// Cost: one pass over the readers of each value.
// Source: TVM's passes CombineParallelDense and CombineParallelConv2D, as proposals instead of rewrites.
#pragma once

#include <vector>

#include "region/rules/partition_rule.h"

namespace collage {

[[nodiscard]] std::vector<Proposal> parallel_products(const Graph& graph, const Uses& uses,
                                                      const std::vector<Proposal>& singles);

}  // namespace collage
