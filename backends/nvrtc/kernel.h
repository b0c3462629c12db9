// A loaded artifact: a module of the GPU, constants in its memory, launches in a plan's queue.
// In:  stored kernels, a load request. Out: a Kernel.
// Cost: loading uploads the cubin and the constants once; a run is one launch for each kernel.
// Source: CUDA Driver API, Module Management, Execution Control.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backends/common/cuda/cuda_device.h"
#include "backends/nvrtc/cuda_artifact.h"

namespace collage::nvrtc {

/// The device outlives the kernel. Error backend/*: constants that do not fit, memory, the driver.
[[nodiscard]] Result<std::unique_ptr<Kernel>> make_kernel(cuda::CudaDevice& device, StoredKernels stored,
                                                          const LoadRequest& request);

}  // namespace collage::nvrtc
