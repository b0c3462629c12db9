#include "primitives/split.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

#include "base/narrow_float.h"

namespace collage::onednn {
namespace {

/// Rows that one thread splits at a time.
constexpr std::int64_t kRows = 16;

/// The largest finite number of bfloat16.
constexpr float kMostFinite = 0x1.fep127F;

struct Parts {
  std::uint16_t high = 0;
  std::uint16_t again = 0;  ///< the high part, which multiplies a low part
  std::uint16_t low = 0;
};

Parts parts_of(float number) {
  const std::uint16_t high = to_bfloat(number);
  const float rounded = from_bfloat(high);
  if (!(std::fabs(rounded) <= kMostFinite)) return {.high = high};
  return {.high = high, .again = high, .low = to_bfloat(number - rounded)};
}

using SplitRows = void(const float* from, std::uint16_t* to, std::int64_t rows, std::int64_t width);

void split_rows(const float* from, std::uint16_t* to, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row, from += width, to += kSplitParts * width)
    for (std::int64_t i = 0; i < width; ++i) {
      const Parts parts = parts_of(from[i]);
      to[i] = parts.high;
      to[width + i] = parts.again;
      to[2 * width + i] = parts.low;
    }
}

/// The same by instructions that round 16 numbers at once.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void split_rows_wide(const float* from, std::uint16_t* to,
                                                                             std::int64_t rows, std::int64_t width) {
  constexpr std::int64_t kFloats = 16;
  const __m512 most = _mm512_set1_ps(kMostFinite);
  for (std::int64_t row = 0; row < rows; ++row, from += width, to += kSplitParts * width)
    for (std::int64_t i = 0; i < width; i += kFloats) {
      const auto mask = static_cast<__mmask16>((1U << std::min(kFloats, width - i)) - 1);
      const __m512 numbers = _mm512_maskz_loadu_ps(mask, from + i);
      const auto high = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(numbers));
      const __m512 rounded = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
      const __mmask16 finite = _mm512_cmp_ps_mask(_mm512_abs_ps(rounded), most, _CMP_LE_OQ);
      const auto low = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_sub_ps(finite, numbers, rounded)));
      _mm256_mask_storeu_epi16(to + i, mask, high);
      _mm256_mask_storeu_epi16(to + width + i, mask, _mm256_maskz_mov_epi16(finite, high));
      _mm256_mask_storeu_epi16(to + 2 * width + i, mask, low);
    }
}

SplitRows* split_of_processor() { return __builtin_cpu_supports("avx512bf16") != 0 ? &split_rows_wide : &split_rows; }

}  // namespace

void split_sources(const float* from, std::uint16_t* to, std::int64_t rows, std::int64_t width) {
  SplitRows* const split = split_of_processor();
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < rows; first += kRows)
    split(from + first * width, to + first * kSplitParts * width, std::min(kRows, rows - first), width);
}

void split_weights(std::span<const float> from, std::span<float> to, std::int64_t depth, std::int64_t inner) {
  const std::size_t block = static_cast<std::size_t>(depth * inner);
  for (std::size_t at = 0; at < from.size(); at += block) {
    const std::span<float> made = to.subspan(kSplitParts * at, kSplitParts * block);
    for (std::size_t i = 0; i < block; ++i) {
      const Parts parts = parts_of(from[at + i]);
      made[i] = from_bfloat(parts.high);
      made[block + i] = from_bfloat(parts.low);
      made[2 * block + i] = from_bfloat(parts.again);
    }
  }
}

}  // namespace collage::onednn
