// A device with memory of its own, on which kernels of some backends run.
// How: work given to a queue runs in order and asynchronously. Kernels bound to a queue return as soon as they are
//       queued; copies and wait() return when they are complete. After a copy to the host the value is therefore there,
//       and a host buffer that a copy has read may be overwritten. The host (kHome) is not a device: its kernels run
//       immediately.
// Cost: a copy waits for the work queued before it.
// Not here: choosing what runs where (search/), timing copies (measure/).
// Source: CUDA streams and OpenCL in-order queues, with blocking copies; CUDA events and graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"

namespace collage {

class Call;

/// The code of an error after which nothing on the device works any more in this process.
inline constexpr const char* kDeviceLost = "backend/device-lost";

/// 64-byte aligned memory of a device. Only kernels and copies of the device may use its addresses.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  [[nodiscard]] virtual std::byte* data() const = 0;
};

/// One thread at a time. The destructor waits for the queued work.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  /// Errors: the first one of the work queued since the last wait or copy.
  [[nodiscard]] virtual Result<void> wait() = 0;
  /// From home to the device. Errors as wait().
  [[nodiscard]] virtual Result<void> copy_in(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  /// From the device to home. Errors as wait().
  [[nodiscard]] virtual Result<void> copy_out(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  /// Nanoseconds that the device takes for so many runs of a call of this queue, from the beginning of the first to the
  /// end of the last. Without a device's clock: by the host's, with a wait(). Errors of the call and as wait().
  [[nodiscard]] virtual Result<std::int64_t> time(Call& call, std::int64_t runs);
  /// A call that queues at once what these calls of this queue would one after the other; null: there is no such way
  /// here. The calls outlive it; their buffers stay as they are. Errors of the calls.
  [[nodiscard]] virtual Result<std::unique_ptr<Call>> record(std::span<Call* const> calls);
  /// What the device's own interface calls the queue, such as a CUstream; null: it has none.
  [[nodiscard]] virtual void* native() const { return nullptr; }
};

/// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  /// Error backend/* when there is not enough memory.
  [[nodiscard]] virtual Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<DeviceQueue>> make_queue() = 0;
};

}  // namespace collage
