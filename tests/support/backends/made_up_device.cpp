#include "made_up_device.h"

#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <thread>

#include "base/pages.h"
#include "test_kernel.h"

namespace collage::test {

/// Its addresses are reserved, but neither readable nor writable: the bytes lie elsewhere.
class MadeUpMemory final : public DeviceMemory {
 public:
  MadeUpMemory(MadeUpDevice& device, std::byte* address, Pages backing, std::size_t bytes)
      : device_(device), address_(address), backing_(std::move(backing)), bytes_(bytes) {
    const std::scoped_lock lock(device_.mutex_);
    device_.blocks_[address_] = {backing_.get(), bytes_};
    device_.allocated_ += bytes_;
  }
  ~MadeUpMemory() override {
    const std::scoped_lock lock(device_.mutex_);
    device_.blocks_.erase(address_);
    device_.allocated_ -= bytes_;
    ::munmap(address_, bytes_);
  }
  MadeUpMemory(const MadeUpMemory&) = delete;
  MadeUpMemory& operator=(const MadeUpMemory&) = delete;

  [[nodiscard]] std::byte* data() const override { return address_; }

 private:
  MadeUpDevice& device_;
  std::byte* address_;
  Pages backing_;
  std::size_t bytes_;
};

namespace {

class MadeUpQueue final : public DeviceQueue {
 public:
  MadeUpQueue(const MadeUpDevice& device, std::int64_t transfer_us)
      : device_(device), transfer_us_(transfer_us), worker_([this] { work(); }) {}
  ~MadeUpQueue() override {
    {
      const std::scoped_lock lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  MadeUpQueue(const MadeUpQueue&) = delete;
  MadeUpQueue& operator=(const MadeUpQueue&) = delete;

  void add(std::function<Result<void>()> work) {
    {
      const std::scoped_lock lock(mutex_);
      open_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

  Result<void> wait() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_.empty() && !is_busy_; });
    Result<void> outcome = std::move(outcome_);
    outcome_ = {};
    return outcome;
  }

  Result<void> copy_in(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return copy(device_.backing_of(to), from, bytes);
  }
  Result<void> copy_out(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return copy(to, device_.backing_of(from), bytes);
  }

 private:
  Result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    add([=, this]() -> Result<void> {
      busy_wait(transfer_us_);
      if (bytes > 0) std::memcpy(to, from, bytes);
      return {};
    });
    return wait();
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !open_.empty() || is_ending_; });
      if (open_.empty()) return;
      std::function<Result<void>()> work = std::move(open_.front());
      open_.pop_front();
      is_busy_ = true;
      lock.unlock();
      Result<void> outcome = work();
      lock.lock();
      is_busy_ = false;
      if (outcome_ && !outcome) outcome_ = std::move(outcome);
      changed_.notify_all();
    }
  }

  const MadeUpDevice& device_;
  std::int64_t transfer_us_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<Result<void>()>> open_;
  bool is_busy_ = false;
  bool is_ending_ = false;
  Result<void> outcome_;
  std::thread worker_;
};

}  // namespace

Result<std::unique_ptr<DeviceMemory>> MadeUpDevice::allocate(std::size_t bytes) {
  const std::size_t size = std::max(aligned_up(bytes), kBufferAlignment);
  if (most_bytes_ > 0 && allocated_ + size > most_bytes_)
    return fail(ExitCode::kLimit, "backend/out-of-memory", "made-up device", std::to_string(bytes) + " bytes",
                std::to_string(most_bytes_ - allocated_) + " bytes");
  Pages backing = allocate_pages(size, PageSize::kSmall);
  void* address = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!backing || address == MAP_FAILED)
    return fail(ExitCode::kLimit, "backend/out-of-memory", "made-up device", std::to_string(bytes) + " bytes", "less");
  return std::make_unique<MadeUpMemory>(*this, static_cast<std::byte*>(address), std::move(backing), size);
}

Result<std::unique_ptr<DeviceQueue>> MadeUpDevice::make_queue() {
  return std::make_unique<MadeUpQueue>(*this, transfer_us_);
}

std::byte* MadeUpDevice::backing_of(const std::byte* address) const {
  const std::scoped_lock lock(mutex_);
  const auto after = blocks_.upper_bound(address);
  COLLAGE_CHECK(after != blocks_.begin(), "an address that is not the device's");
  const auto& [begin, block] = *std::prev(after);
  const auto offset = static_cast<std::size_t>(address - begin);
  COLLAGE_CHECK(offset < block.bytes, "an address that is not the device's");
  return block.backing + offset;
}

void enqueue(DeviceQueue& queue, std::function<Result<void>()> work) {
  static_cast<MadeUpQueue&>(queue).add(std::move(work));
}

}  // namespace collage::test
