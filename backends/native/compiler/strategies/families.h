// The families, one file each.
// In: nothing. Out: rows for the table in families.cpp. Cost: none. Source: ours.
#pragma once

#include <array>

#include "compiler/strategy.h"

namespace collage::native {

extern const Family kElementwiseFamily;
extern const Family kConvolutionFamily;
extern const Family kProductFamily;

}  // namespace collage::native
