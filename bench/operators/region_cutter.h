// Cuts a model's graph into the small regions that the operator benchmark is made of.
// In: a simplified graph. Out: regions with their classes: heavy operators with the element-wise work behind them,
//     attention as a whole, and connected runs of element-wise work and moves of elements.
// Cost: quadratic in the nodes at worst, by the tests that a run can be one step.
// Not here: which ones matter (cut_operators.cpp).
// Source: ours.
#pragma once

#include <string>
#include <vector>

#include "region/region.h"

namespace collage::bench {

struct Cut {
  Region region;
  std::string class_name;  ///< empty: time that counts, in no class
  std::size_t anchor = 0;  ///< the node that gave it its class
  bool counts = true;      ///< false where other cuts hold the same nodes: no part of the model's time
};

/// Regions whose border is static, in the order of their anchors. All that count together hold no node twice.
[[nodiscard]] std::vector<Cut> cut_regions(const Graph& graph);

}  // namespace collage::bench
