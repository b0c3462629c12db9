#include "compiler/strategies/families.h"

namespace collage::native {

std::span<const Family* const> all_families() {
  static const std::array<const Family*, 3> families = {&kElementwiseFamily, &kConvolutionFamily, &kProductFamily};
  return families;
}

}  // namespace collage::native
