// The regions that this backend is asked about: an operator with the element-wise operators that follow it, and
// diamonds of those, which become one kernel.
// In:  nothing. Out: patterns in the pattern language.
#pragma once

#include "region/rules/rules.h"

namespace collage::tvm {

[[nodiscard]] PartitionRules partition_rules();

}  // namespace collage::tvm
