// The kernel of all operators that are one loop over slices: reductions and softmax.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "slices/slices.h"

namespace collage::host {

/// What a loop writes for a slice: one element per inner element, or as much as it reads. Loops of the second kind get
/// their `work`.
enum class SliceResult : std::uint8_t { kOne, kWhole };

/// Reads input port `input`, writes output port 0.
[[nodiscard]] std::unique_ptr<Kernel> make_slice_kernel(const Slices& slices, SliceLoops::Loop loop, SliceResult result,
                                                        std::uint32_t input, int threads);

}  // namespace collage::host
