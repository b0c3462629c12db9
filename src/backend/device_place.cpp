#include "backend/device_place.h"

#include "base/clock.h"

namespace collage {

Result<std::int64_t> DeviceQueue::time(Call& call, std::int64_t runs) {
  const std::int64_t begin = monotonic_ns();
  for (std::int64_t i = 0; i < runs; ++i) COLLAGE_TRY_VOID(call.run());
  COLLAGE_TRY_VOID(wait());
  return monotonic_ns() - begin;
}

Result<std::unique_ptr<Call>> DeviceQueue::record(std::span<Call* const> /*calls*/) { return nullptr; }

namespace {

class TransferCall final : public Call {
 public:
  TransferCall(DeviceQueue& queue, Direction direction, std::byte* to, const std::byte* from, std::size_t bytes)
      : queue_(queue), direction_(direction), to_(to), from_(from), bytes_(bytes) {}

  Result<void> run() override {
    return direction_ == Direction::kIn ? queue_.copy_in(to_, from_, bytes_) : queue_.copy_out(to_, from_, bytes_);
  }

 private:
  DeviceQueue& queue_;
  Direction direction_;
  std::byte* to_;
  const std::byte* from_;
  std::size_t bytes_;
};

}  // namespace

Result<DevicePlace> make_device_place(Device& device, std::size_t arena_bytes) {
  DevicePlace place;
  COLLAGE_TRY(place.arena, device.allocate(arena_bytes));
  COLLAGE_TRY(place.queue, device.make_queue());
  return place;
}

std::unique_ptr<Call> transfer_call(DeviceQueue& queue, Direction direction, std::byte* to, const std::byte* from,
                                    std::size_t bytes) {
  return std::make_unique<TransferCall>(queue, direction, to, from, bytes);
}

}  // namespace collage
