// The patterns of regions that this backend is asked about: products, what can be folded into them, and what follows
// them.
// In:  nothing. Out: patterns in the pattern language.
// Source: what one call of gemm and a pass over its output can compute.
#pragma once

#include "region/rules/rules.h"

namespace collage::blas {

[[nodiscard]] PartitionRules partition_rules();

}  // namespace collage::blas
