// SHA-1 as ONNX names it for files of external data. A checksum here, no protection against people.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace collage {

/// 40 lower-case hexadecimal digits.
[[nodiscard]] std::string sha1_hex(std::span<const std::byte> bytes);

}  // namespace collage
