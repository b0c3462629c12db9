// One NVIDIA GPU as a device of plans: its primary context, memory, and a stream for each queue.
// In:  the driver, the number of a GPU. Out: a Device; what identifies the GPU.
// How: the context is retained when the first memory, queue or module is asked for, so that asking what is there costs
//       little; a thread has its own context back after each call. Copies go through two pinned pieces of a queue: one
//       is copied while the other is on its way.
// Threads: CudaDevice is thread-safe; a queue is for one thread at a time, which may change.
// Not here: kernels (backends/nvrtc).
// Source: CUDA Driver API; CUDA C++ Programming Guide, Stream Ordered Memory Allocator, CUDA Graphs, Page-Locked
// Memory.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backends/common/cuda/driver.h"

namespace collage::cuda {

/// What is known of a GPU without its context.
struct GpuFacts {
  int ordinal = 0;
  std::string name;              ///< "NVIDIA H200"
  int capability = 0;            ///< 90 for 9.0
  std::int64_t bytes = 0;        ///< of its memory
  std::int64_t cache_bytes = 0;  ///< of its last cache
  int driver_version = 0;        ///< the newest CUDA that it runs: 13000 for 13.0
  /// "NVIDIA H200 9.0 CUDA 13.0": a part of cost keys.
  [[nodiscard]] std::string print() const;
};

/// Of those that CUDA_VISIBLE_DEVICES leaves. Empty-handed: why, in words.
[[nodiscard]] std::expected<GpuFacts, std::string> facts_of(const Driver& driver, int ordinal);

/// As long as it lives the device's context is this thread's; then the one that it had before.
class CurrentContext {
 public:
  explicit CurrentContext(const Driver& driver) : driver_(&driver) {}
  CurrentContext(CurrentContext&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
  CurrentContext& operator=(CurrentContext&&) = delete;
  ~CurrentContext() {
    Handle own = nullptr;
    if (driver_ != nullptr) (void)driver_->pop_context(&own);
  }

 private:
  const Driver* driver_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, GpuFacts facts) : driver_(driver), facts_(std::move(facts)) {}

  [[nodiscard]] Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override;
  [[nodiscard]] Result<std::unique_ptr<DeviceQueue>> make_queue() override;

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] const GpuFacts& facts() const { return facts_; }
  /// Makes the device's context this thread's. Before every other call of the driver.
  [[nodiscard]] Result<CurrentContext> use();

 private:
  [[nodiscard]] Result<void> retain();

  const Driver& driver_;
  GpuFacts facts_;
  std::mutex mutex_;
  /// Retained as long as the process: modules and memory of others may live in it. Null before it is asked for.
  std::atomic<Handle> context_ = nullptr;
};

}  // namespace collage::cuda
