// Which 16-bit element type kernels may compute and store in.
// In:  the options of a compilation, this processor. Out: an element type, or nothing.
#pragma once

#include <optional>

#include "backend/backend.h"

namespace collage {

/// bfloat16 in accuracy class `fast` where the processor multiplies it, else nothing. Backends offer narrow formats and
/// 16-bit arithmetic only when this names a type.
[[nodiscard]] std::optional<ElementType> narrow_element(const CompileOptions& options);

}  // namespace collage
