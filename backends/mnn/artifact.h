// The artifact of a kernel: a net without the contents of its constants, and how the library is to compute it.
// In:  what lower.h makes. Out: bytes; the net from them again, with the constants in their places.
// Form: that of the engines (backends/common/engine/engine_artifact.h); the payload is the flatbuffer of the net.
// Cost: filling copies every constant once.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "backends/mnn/check_net.h"
#include "base/error.h"
#include "ir/tensor.h"

namespace collage::mnn {

/// How the library computes convolutions.
struct Method {
  bool is_direct = false;  ///< by summing products alone: neither Strassen's method nor Winograd's
  int winograd = 0;        ///< the library's level: 0 = never, 1 = two pixels at once, 3 = as many as it likes
  bool operator==(const Method&) const = default;
};

struct StoredNet {
  std::string net;
  Method method;
  int threads = 1;
  bool operator==(const StoredNet&) const = default;
};

[[nodiscard]] std::string to_bytes(const StoredNet& stored);
/// Error backend/bad-artifact for bytes that hold no net. Whether it fits the ports is seen when it runs first.
[[nodiscard]] Result<StoredNet> parse_net(std::string_view bytes);

/// The net with the contents of constants, or why they do not fit, or why it is none of ours (check_net.h).
[[nodiscard]] std::expected<std::string, std::string> filled(const std::string& net, PortCounts ports,
                                                             std::span<const Tensor> constants);

}  // namespace collage::mnn
