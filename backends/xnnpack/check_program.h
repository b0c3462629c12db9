// Whether a program that was read from an artifact fits itself: artifacts come with plan files, which others may have
// made, and the library believes what it is told about shapes. In:  a program. Out: nothing, or error
// backend/bad-artifact. Cost: one pass over tensors and operations. Not here: the sizes of ports (kernel.h) and
// constants (constants.h).
#pragma once

#include "program.h"

namespace collage::xnnpack {

/// Every operation names tensors that there are; each tensor is written once, before it is read, and not where the
/// model or the caller owns it; types fit each other (operand_types.h); every result has the extents that the library
/// will give it (result_extents.h).
[[nodiscard]] Result<void> check_program(const Program& program);

}  // namespace collage::xnnpack
