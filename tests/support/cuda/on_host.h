// Instances of backends for GPUs whose GPU is the processor.
#pragma once

#include <string>

#include "tests/support/paths.h"

namespace collage::test {

[[nodiscard]] inline std::string cuda_on_host() { return build_path("/tests/modules/cuda/libcuda_on_host.so"); }
[[nodiscard]] inline std::string nvrtc_on_host() {
  return "nvrtc:compiler=" + build_path("/tests/modules/cuda/libnvrtc_on_host.so") + ",driver=" + cuda_on_host();
}

[[nodiscard]] inline std::string cublaslt_on_host() {
  return "cublaslt:driver=" + cuda_on_host() + ",library=" + build_path("/tests/modules/cuda/libcublaslt_on_host.so");
}

[[nodiscard]] inline std::string cudnn_on_host() {
  return "cudnn:driver=" + cuda_on_host() + ",library=" + build_path("/tests/modules/cuda/libcudnn_on_host.so");
}

}  // namespace collage::test
