#include "base/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace collage {
namespace {

std::string to_hex(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

std::string hash_hex(const void* data, std::size_t bytes) { return to_hex(XXH3_128bits(data, bytes)); }

std::string hash_hex(std::span<const std::string_view> pieces) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (const std::string_view piece : pieces) XXH3_128bits_update(&state, piece.data(), piece.size());
  return to_hex(XXH3_128bits_digest(&state));
}

}  // namespace collage
