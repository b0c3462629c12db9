#include "base/sha1.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace collage {
namespace {

// FIPS 180-4, sections 5 and 6.1; names as there.
constexpr std::size_t kBlock = 64;

using State = std::array<std::uint32_t, 5>;

std::uint32_t word_at(const std::byte* bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return std::endian::native == std::endian::little ? __builtin_bswap32(word) : word;
}

void add_block(State& state, const std::byte* block) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t t = 0; t < 16; ++t) w[t] = word_at(block + 4 * t);
  for (std::size_t t = 16; t < w.size(); ++t) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t t = 0; t < w.size(); ++t) {
    std::uint32_t f = b ^ c ^ d;
    std::uint32_t k = t < 40 ? 0x6ed9eba1 : 0xca62c1d6;
    if (t < 20) {
      f = (b & c) ^ (~b & d);
      k = 0x5a827999;
    } else if (t >= 40 && t < 60) {
      f = (b & c) ^ (b & d) ^ (c & d);
      k = 0x8f1bbcdc;
    }
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1_hex(std::span<const std::byte> bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::size_t at = 0;
  for (; bytes.size() - at >= kBlock; at += kBlock) add_block(state, bytes.data() + at);
  // The rest, a one bit, zeros, and the length in bits, in one block or two.
  std::array<std::byte, 2 * kBlock> tail{};
  const std::span<const std::byte> rest = bytes.subspan(at);
  std::ranges::copy(rest, tail.begin());
  tail[rest.size()] = std::byte{0x80};
  const std::size_t end = rest.size() + 9 <= kBlock ? kBlock : 2 * kBlock;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) tail[end - 1 - i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
  for (at = 0; at < end; at += kBlock) add_block(state, tail.data() + at);
  std::string hex;
  for (const std::uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace collage
