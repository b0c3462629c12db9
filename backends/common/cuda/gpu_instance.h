// What the instances of backends for NVIDIA's GPUs have in common: their options, the GPU, the location.
// In:  options `device=N` (default 0), `driver=FILE`, and what the backend adds. Out: a device, and its facts in the
// info.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/registry.h"
#include "backends/common/cuda/cuda_device.h"

namespace collage::cuda {

/// The option's value; "" when it is not there.
[[nodiscard]] std::string option_of(const BackendOptions& options, const std::string& name);

/// Opens the driver and looks for the GPU. Fills in location, devices and bytes of `info`. Empty-handed: why, in words,
/// among it an option that is neither one of these two nor of `more`.
[[nodiscard]] std::expected<std::unique_ptr<CudaDevice>, std::string> open_gpu(const BackendOptions& options,
                                                                               std::span<const std::string_view> more,
                                                                               BackendInfo& info);

/// Why a library of this major version of CUDA does not run on the driver; empty when it does.
[[nodiscard]] std::string fault_of_version(const std::string& library, std::size_t major, const GpuFacts& facts);

}  // namespace collage::cuda
