// Conversion to and from the bits of 16-bit floats, rounded to nearest, ties to even.
// Source: IEEE 754-2019 binary16; bfloat16 is the upper half of binary32.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace collage {

[[nodiscard]] inline std::uint16_t to_half(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const double magnitude = std::abs(value);
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::nearbyint(magnitude * 0x1p24)));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  const auto mantissa = static_cast<int>(std::nearbyint(fraction * 2048.0)) - 1024;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(((exponent + 14) << 10) + mantissa));
}

[[nodiscard]] inline std::uint16_t to_bfloat(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace collage
