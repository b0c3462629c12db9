// Accuracy classes: how much the results of a plan may differ from the reference. docs/NUMBERS.md has the bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace collage {

enum class Accuracy : std::uint8_t {
  kStrict,    ///< any order of summation; no Winograd, no rewritten weights
  kStandard,  ///< the default: also Winograd and folded batch normalisation
  kFast       ///< also 16-bit arithmetic
};

/// The class of what has no 16 bits in a tune of class `asked`.
[[nodiscard]] constexpr Accuracy without_16_bits(Accuracy asked) {
  return asked == Accuracy::kFast ? Accuracy::kStandard : asked;
}

[[nodiscard]] std::string_view name_of(Accuracy accuracy);
[[nodiscard]] std::optional<Accuracy> accuracy_of(std::string_view name);

}  // namespace collage
