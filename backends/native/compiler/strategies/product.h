// Views MatMul and Gemm by a constant matrix as a product over rows, for several families.
// In:  a region with such an anchor. Out: its Dense, or why it has none.
#pragma once

#include "compiler/products/dense.h"

namespace collage::native {

/// Over these tensors in place of the anchor's operands, of any element type; alpha and beta, but no bias.
[[nodiscard]] std::expected<Dense, Refusal> product_of(const Site& site, ValueId source, ValueId weights);

/// Over the anchor's operands, f32, with its bias.
[[nodiscard]] std::expected<Dense, Refusal> product_of(const Site& site);

}  // namespace collage::native
