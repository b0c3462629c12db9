// A convolution bound to a GPU: what an artifact holds, and the kernel that it becomes.
// In:  a description and the plan chosen for it. Out: bytes; and from bytes and ports a Kernel.
// Cost: loading makes the plan from its text and uploads the constants; a run is one call of the library.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.h"
#include "backends/common/cuda/cuda_device.h"
#include "backends/cudnn/description.h"
#include "backends/cudnn/library.h"

namespace collage::cudnn {

struct StoredPlan {
  Description description;  ///< constants are those of the load request
  std::string text;         ///< of the library's plan
  std::uint64_t workspace_bytes = 0;
};

[[nodiscard]] std::string to_bytes(const StoredPlan& stored);

/// A handle of the library on one stream. Ended with the last call that uses it.
class OnStream {
 public:
  /// The device's context is current.
  OnStream(cuda::CudaDevice& device, const Library& library, void* stream);
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream();
  [[nodiscard]] Handle handle() const { return handle_; }

 private:
  cuda::CudaDevice& device_;
  const Library& library_;
  Handle handle_ = nullptr;
};

/// The handles of queues that have calls. Thread-safe.
class Handles {
 public:
  Handles(cuda::CudaDevice& device, const Library& library) : device_(device), library_(library) {}
  /// Throws what the library throws. The device's context is current.
  [[nodiscard]] std::shared_ptr<OnStream> of(void* stream);

 private:
  cuda::CudaDevice& device_;
  const Library& library_;
  std::mutex mutex_;
  std::map<void*, std::weak_ptr<OnStream>> known_;
};

/// What kernels of one instance share; outlives them.
struct Instance {
  cuda::CudaDevice& device;
  const Library& library;
  Handles& handles;
};

/// Error backend/bad-artifact, backend/library-failed.
[[nodiscard]] Result<std::unique_ptr<Kernel>> make_kernel(const Instance& instance, const LoadRequest& request);

}  // namespace collage::cudnn
