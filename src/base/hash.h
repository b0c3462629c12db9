// Content hashes (XXH3) for keys, artifacts and weights. Stable across processes and machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace collage {

[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed = 0);
[[nodiscard]] inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}
/// 128-bit hash as 32 lower-case hexadecimal digits: names of artifacts, keys of the cost store.
[[nodiscard]] std::string hash_hex(const void* data, std::size_t bytes);
[[nodiscard]] inline std::string hash_hex(std::string_view text) { return hash_hex(text.data(), text.size()); }
/// Of all pieces as one text.
[[nodiscard]] std::string hash_hex(std::span<const std::string_view> pieces);

}  // namespace collage
