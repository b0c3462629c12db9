#include "numbers/narrow_output.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/narrow_float.h"

namespace collage {
namespace {

/// Fewer elements may have few bits by chance.
constexpr std::ptrdiff_t kFewest = 24;

float as_bfloat(float value) { return from_bfloat(to_bfloat(value)); }
float as_half(float value) { return from_half(to_half(value)); }
bool is_bfloat(float value) { return as_bfloat(value) == value || std::isnan(value); }
bool is_half(float value) { return as_half(value) == value || std::isnan(value); }

/// Rounding an element to 16 bits has to change it by more than other arithmetic may: saturated functions and values
/// near 0 may come out as numbers of few bits.
constexpr float kLeastRelative = 0x1p-16F;
constexpr float kLeastAbsolute = 1e-6F;

template <class Fits, class Rounded>
bool all_fit(std::span<const float> seen, std::span<const float> expected, Fits fits, Rounded rounded) {
  if (!std::ranges::all_of(seen, fits)) return false;
  const auto wide = std::ranges::count_if(expected, [&](float value) {
    return std::abs(rounded(value) - value) > kLeastAbsolute + kLeastRelative * std::abs(value);
  });
  return wide >= kFewest && 2 * wide >= std::ssize(expected);
}

}  // namespace

bool has_narrow_elements(const Tensor& seen, const Tensor& expected) {
  if (seen.type != ElementType::kFloat32 || expected.type != ElementType::kFloat32) return false;
  const auto values = seen.data.as<float>();
  const auto wanted = expected.data.as<float>();
  return all_fit(values, wanted, is_bfloat, as_bfloat) || all_fit(values, wanted, is_half, as_half);
}

}  // namespace collage
