// The patterns of regions that this backend is asked about: an operator with what follows it, and chains.
#pragma once

#include "region/rules/rules.h"

namespace collage::xnnpack {

[[nodiscard]] PartitionRules partition_rules();

}  // namespace collage::xnnpack
