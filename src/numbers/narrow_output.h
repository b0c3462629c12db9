// Finds outputs that were stored in 16 bits where class standard and strict do not allow it: errors of that size alone
// are within their bounds.
// In:  an output and the expected one. Out: whether its elements have no more bits than a 16-bit float has.
// Cost: usually that of a few elements; linear in the elements where they do have so few bits.
#pragma once

#include "ir/tensor.h"

namespace collage {

/// True when every element of a float32 tensor is one of bfloat16, or every one of float16, and the expected elements,
/// of which there are some dozens, mostly are not.
[[nodiscard]] bool has_narrow_elements(const Tensor& seen, const Tensor& expected);

}  // namespace collage
