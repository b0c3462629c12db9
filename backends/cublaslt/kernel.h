// A product bound to a GPU: what an artifact holds, and the kernel that it becomes.
// In:  a product and the algorithm chosen for it. Out: bytes; and from bytes and ports a Kernel.
// Cost: a run is one call of the library, which queues its kernels.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backends/blas/program.h"
#include "backends/common/cuda/cuda_device.h"
#include "backends/cublaslt/library.h"

namespace collage::cublaslt {

struct StoredProduct {
  std::string program;  ///< the text of a blas::Program
  Algorithm algorithm;
  bool uses_tf32 = false;
  std::uint64_t workspace_bytes = 0;
};

[[nodiscard]] std::string to_bytes(const StoredProduct& stored);

/// Device and library outlive the kernel. Error backend/bad-artifact, backend/library-failed.
[[nodiscard]] Result<std::unique_ptr<Kernel>> make_kernel(cuda::CudaDevice& device, const Library& library,
                                                          Handle handle, const LoadRequest& request);

}  // namespace collage::cublaslt
