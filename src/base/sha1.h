// SHA-1, which ONNX uses as the checksum of external data files. It detects damage; it is no protection against
// forgery.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace collage {

/// 40 lower-case hexadecimal digits.
[[nodiscard]] std::string sha1_hex(std::span<const std::byte> bytes);

}  // namespace collage
