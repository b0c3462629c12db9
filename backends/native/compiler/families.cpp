#include "compiler/strategies/families.h"

namespace collage::native {

std::span<const Family* const> all_families() {
  static const std::array<const Family*, 6> families = {&kElementwiseFamily, &kMovementFamily, &kConvolutionFamily,
                                                        &kProductFamily,     &kPoolingFamily,  &kRowsFamily};
  return families;
}

}  // namespace collage::native
