// The operator families, one file each; families.cpp lists them in a table.
#pragma once

#include <array>

#include "compiler/selection/strategy.h"

namespace collage::native {

extern const Family kAttentionFamily;
extern const Family kBatchProductFamily;
extern const Family kDynamicQuantiserFamily;
extern const Family kElementwiseFamily;
extern const Family kConvolutionFamily;
extern const Family kGroupNormFamily;
extern const Family kLocalResponseFamily;
extern const Family kMovementFamily;
extern const Family kPoolingFamily;
extern const Family kProductFamily;
extern const Family kQuantisedConvolutionFamily;
extern const Family kQuantisedProductFamily;
extern const Family kRowsFamily;
extern const Family kSeparableFamily;
extern const Family kStagedFamily;
extern const Family kTransposedConvolutionFamily;

}  // namespace collage::native
