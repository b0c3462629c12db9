// The extents that the library gives the result of an operation: it computes them from its inputs and parameters, and
// from then on believes them, whatever a program declares.
// In:  a program whose operands exist, an operation of it. Out: the extents; nothing where inputs and parameters do not
// fit each other, or where the library would read or write outside of them. Cost: a few steps for each axis.
// Source: the reshape functions of XNNPACK's src/subgraph, 2024-11-08.
#pragma once

#include <optional>

#include "program.h"

namespace collage::xnnpack {

/// Axes of the library's arrays.
inline constexpr std::size_t kMostTensorAxes = 6;

[[nodiscard]] std::optional<Extents> result_extents(const Program& program, const Op& op);

}  // namespace collage::xnnpack
