// The patterns of regions that this backend is asked about: single operators, and chains that the library can fuse.
#pragma once

#include "region/rules/rules.h"

namespace collage::onednn {

[[nodiscard]] PartitionRules partition_rules();

}  // namespace collage::onednn
