// Constants of kernels in a GPU's memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/common/cuda/cuda_device.h"
#include "base/buffer.h"

namespace collage::cuda {

/// Copies of these bytes in the device's memory, in order. Errors of the device.
[[nodiscard]] inline Result<std::vector<std::unique_ptr<DeviceMemory>>> uploaded(CudaDevice& device,
                                                                                 std::span<const Buffer> constants) {
  std::vector<std::unique_ptr<DeviceMemory>> all;
  if (constants.empty()) return all;
  COLLAGE_TRY(const std::unique_ptr<DeviceQueue> queue, device.make_queue());
  for (const Buffer& bytes : constants) {
    COLLAGE_TRY(std::unique_ptr<DeviceMemory> memory, device.allocate(bytes.size()));
    COLLAGE_TRY_VOID(queue->copy_in(memory->data(), bytes.data(), bytes.size()));
    all.push_back(std::move(memory));
  }
  return all;
}

}  // namespace collage::cuda
