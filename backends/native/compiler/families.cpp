#include "compiler/strategies/families.h"

namespace collage::native {

std::span<const Family* const> all_families() {
  static const std::array<const Family*, 7> families = {&kElementwiseFamily, &kMovementFamily,     &kConvolutionFamily,
                                                        &kProductFamily,     &kBatchProductFamily, &kPoolingFamily,
                                                        &kRowsFamily};
  return families;
}

}  // namespace collage::native
