// Which regions are worth asking about: single operators, and the chains that the library fuses.
#pragma once

#include "region/rules/rules.h"

namespace collage::onednn {

[[nodiscard]] PartitionRules partition_rules();

}  // namespace collage::onednn
