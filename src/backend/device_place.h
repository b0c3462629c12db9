// A session's memory and queue on one device, and the calls that copy values to the device and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "backend/backend.h"

namespace collage {

struct DevicePlace {
  std::unique_ptr<DeviceMemory> arena;
  std::unique_ptr<DeviceQueue> queue;  ///< ends before the arena: what is queued may still write to it
};

/// By location.
using DevicePlaces = std::map<std::string, DevicePlace>;

/// Errors of the device.
[[nodiscard]] Result<DevicePlace> make_device_place(Device& device, std::size_t arena_bytes);

enum class Direction : std::uint8_t { kIn, kOut };

/// Copies so many bytes to (kIn) or from (kOut) the device with every run. The queue outlives it.
[[nodiscard]] std::unique_ptr<Call> transfer_call(DeviceQueue& queue, Direction direction, std::byte* to,
                                                  const std::byte* from, std::size_t bytes);

}  // namespace collage
