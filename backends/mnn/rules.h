// The regions that this backend is asked about: operators with what follows them, and long runs of supported nodes,
// between which the library keeps its own memory format.
// In:  nothing. Out: patterns in the pattern language.
// Source: what the library fuses, and where conversions to and from its format are saved.
#pragma once

#include "region/rules/rules.h"

namespace collage::mnn {

[[nodiscard]] PartitionRules partition_rules();

}  // namespace collage::mnn
