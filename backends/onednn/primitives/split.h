// Splits float32 numbers into two bfloat16 numbers each, whose products keep about 16 bits.
// In:  rows of floats. Out: the factors of a product three times as deep, with sums in float32.
// How: x = high + low + a rest below 2^-16 of x. The product of two numbers is high*high + high*low + low*high; low*low
//      is left out. Sources have [high, high, low] where weights have [high, low, high].
// Source: Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
//      Computations", 2019 (two terms). Infinity, NaN and what rounds to infinity are multiplied by high parts alone.
// Cost: linear in the numbers; the result has 1.5 times the bytes.
#pragma once

#include <cstdint>
#include <span>

namespace collage::onednn {

/// How many bfloat16 numbers a factor of such a product has for each float32.
inline constexpr std::int64_t kSplitParts = 3;

/// Each row of `width` floats as 3 * `width` numbers of bfloat16: the high parts, the high parts, the low parts. By the
/// OpenMP threads of the caller.
void split_sources(const float* from, std::uint16_t* to, std::int64_t rows, std::int64_t width);

/// The same of weights, [outer, depth, inner] -> [outer, 3 * depth, inner], as floats that bfloat16 has: the high
/// parts, the low parts, the high parts.
void split_weights(std::span<const float> from, std::span<float> to, std::int64_t depth, std::int64_t inner);

}  // namespace collage::onednn
