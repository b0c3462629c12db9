// A made-up device: memory that home cannot read, a queue that works while the caller goes on, transfers that take
// time. In: addresses of its memory, work. Out: the work, done in order by a thread of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "backend/device.h"

namespace collage::test {

/// Threads may share it.
class MadeUpDevice final : public Device {
 public:
  /// Transfers take so long whatever their size. `most_bytes` that may be allocated at a time; 0 = any.
  MadeUpDevice(std::int64_t transfer_us, std::size_t most_bytes) : transfer_us_(transfer_us), most_bytes_(most_bytes) {}

  Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<DeviceQueue>> make_queue() override;

  /// Where the bytes at an address of the device really are.
  [[nodiscard]] std::byte* backing_of(const std::byte* address) const;

 private:
  friend class MadeUpMemory;
  struct Block {
    std::byte* backing;
    std::size_t bytes;
  };

  std::int64_t transfer_us_;
  std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, Block> blocks_;
  std::size_t allocated_ = 0;
};

/// Adds work to a queue of a MadeUpDevice and returns at once.
void enqueue(DeviceQueue& queue, std::function<Result<void>()> work);

}  // namespace collage::test
