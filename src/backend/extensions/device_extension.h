// Extension of a backend whose kernels use the memory of a device instead of the host's.
#pragma once

#include "backend/backend.h"

namespace collage {

class DeviceExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kDevice;
  /// The device at info().location. Owned by the backend.
  [[nodiscard]] virtual Device& device() = 0;
};

/// The device at info().location; null for a backend at home.
[[nodiscard]] inline Device* device_of(Backend& backend) {
  auto* const extension = extension_of<DeviceExtension>(backend);
  return extension != nullptr ? &extension->device() : nullptr;
}

}  // namespace collage
