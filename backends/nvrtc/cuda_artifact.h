// What an artifact holds: compiled kernels, their launches, buffers and constants.
// In:  a CudaProgram and its cubin. Out: bytes; and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/native/cuda_program.h"
#include "base/error.h"

namespace collage::nvrtc {

struct StoredKernels {
  std::string source;  ///< for those who want to read what runs
  std::string cubin;
  std::vector<native::CudaKernel> kernels;
  std::vector<native::Argument> arguments;
  std::vector<native::ConstantPart> constants;
  std::uint64_t workspace_bytes = 0;
};

[[nodiscard]] std::string to_bytes(const StoredKernels& stored);
/// Error backend/bad-artifact: not these bytes, or kernels whose parameters name no buffer.
[[nodiscard]] Result<StoredKernels> stored_kernels(std::string_view bytes);

}  // namespace collage::nvrtc
