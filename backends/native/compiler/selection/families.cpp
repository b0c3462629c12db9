#include "compiler/strategies/families.h"

namespace collage::native {

std::span<const Family* const> all_families() {
  // The quantised and staged ones first, so that a plain Conv or MatMul is refused with the words of its own family.
  static const std::array<const Family*, 16> families = {&kElementwiseFamily,
                                                         &kMovementFamily,
                                                         &kQuantisedConvolutionFamily,
                                                         &kQuantisedProductFamily,
                                                         &kStagedFamily,
                                                         &kConvolutionFamily,
                                                         &kProductFamily,
                                                         &kBatchProductFamily,
                                                         &kPoolingFamily,
                                                         &kRowsFamily,
                                                         &kGroupNormFamily,
                                                         &kLocalResponseFamily,
                                                         &kAttentionFamily,
                                                         &kSeparableFamily,
                                                         &kTransposedConvolutionFamily,
                                                         &kDynamicQuantiserFamily};
  return families;
}

}  // namespace collage::native
