// Conversions of values on a GPU between plain and channels_last.
// In:  a type, two formats. Out: CUDA C with its launch.
// How: a thread for each element, in the order of the result.
#pragma once

#include <expected>
#include <string>

#include "backend/backend.h"
#include "backends/native/cuda_program.h"
#include "region/refusal.h"

namespace collage::nvrtc {

/// One input, one output, no constants. Refusal (format, type, shape): other formats, elements of other than 1, 2, 4 or
/// 8 bytes, 2^31 elements.
[[nodiscard]] std::expected<native::CudaProgram, Refusal> write_conversion(const Conversion& conversion);

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

}  // namespace collage::nvrtc
