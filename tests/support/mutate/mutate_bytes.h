// Changes bytes whose form is not known: bits, runs of bytes, numbers of one to eight bytes, parts of other samples.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "tests/support/dice.h"

namespace collage::test {

/// What readers forget: both ends of every width, and one beyond.
inline constexpr std::array<std::int64_t, 27> kBoundaryIntegers = {0,
                                                                   1,
                                                                   -1,
                                                                   2,
                                                                   -2,
                                                                   3,
                                                                   7,
                                                                   8,
                                                                   16,
                                                                   31,
                                                                   63,
                                                                   64,
                                                                   127,
                                                                   255,
                                                                   256,
                                                                   1000,
                                                                   65'535,
                                                                   65'536,
                                                                   std::int64_t{1} << 30,
                                                                   (std::int64_t{1} << 31) - 1,
                                                                   -(std::int64_t{1} << 31),
                                                                   (std::int64_t{1} << 32) - 1,
                                                                   std::int64_t{1} << 40,
                                                                   (std::int64_t{1} << 62) - 1,
                                                                   std::int64_t{1} << 62,
                                                                   std::numeric_limits<std::int64_t>::max(),
                                                                   std::numeric_limits<std::int64_t>::min()};

/// One to a few changes; `other` lends parts.
[[nodiscard]] std::string mutated_bytes(std::string bytes, const std::string& other, Dice& dice);

/// The same bytes with one of all truncations and flipped bits: those first, then these. `index` < broken_count().
[[nodiscard]] std::size_t broken_count(const std::string& bytes);
[[nodiscard]] std::string broken_bytes(const std::string& bytes, std::size_t index);

}  // namespace collage::test
