// The order in which a format stores the axes of a tensor.
// In: a rank and one of the two common formats; any other format counts as plain. Out: axes.
// Cost: linear in the rank.
// Source: ONNX axes; [n, h, w, c] for images, likewise with other numbers of spatial axes.
#pragma once

#include <cstddef>
#include <vector>

#include "region/format.h"

namespace collage {

/// ONNX axes from the outermost in memory to the innermost. channels_last is plain below rank 3.
[[nodiscard]] std::vector<std::size_t> memory_order(std::size_t rank, const Format& format);

}  // namespace collage
