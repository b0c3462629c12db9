// Extents of the result of an element-wise operator whose operands are broadcast against each other.
// In:  the extents of two operands. Out: those of the result.
// Source: ONNX, "Broadcasting in ONNX", multidirectional.
#pragma once

#include <optional>

#include "ir/type.h"

namespace collage {

/// Axes are aligned at the end. Nothing where two extents differ and neither is 1.
[[nodiscard]] std::optional<Extents> broadcast_extents(Extents a, Extents b);

}  // namespace collage
