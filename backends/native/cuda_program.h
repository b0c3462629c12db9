// A region as CUDA C: the text of its kernels, and with which buffers and how many threads they are launched.
// In:  what compiler/cuda wrote. Out: what the nvrtc backend compiles, stores and launches.
// Not here: compiling the text, devices (backends/nvrtc).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "program.h"

namespace collage::native {

/// What a parameter of a kernel points to.
enum class CudaBufferKind : std::uint8_t {
  kArgument,  ///< the program's argument of this number
  kScratch    ///< so many bytes behind the start of the workspace
};

struct CudaBuffer {
  CudaBufferKind kind = CudaBufferKind::kArgument;
  std::uint64_t at = 0;
  bool operator==(const CudaBuffer&) const = default;
};

/// One launch. Every parameter is a pointer.
struct CudaKernel {
  std::string name;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;  ///< of a block
  std::vector<CudaBuffer> parameters;
  bool operator==(const CudaKernel&) const = default;
};

struct CudaProgram {
  std::string source;               ///< CUDA C++ without any header
  std::vector<CudaKernel> kernels;  ///< launched one after the other
  std::vector<Argument> arguments;
  std::vector<ConstantPart> constants;   ///< what arguments of kind kConstant name
  std::vector<ValueId> graph_constants;  ///< of the graph: what the parts name
  std::uint64_t workspace_bytes = 0;
};

}  // namespace collage::native
