// Transposes of 4-byte elements in register tiles: 8x8 with AVX, 4x4 with SSE, which every x86-64 machine has.
// Blocks of rows keep the written cache lines in the first-level cache until they are full.
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "movement/copy_loops.h"

namespace collage::host {
namespace {

constexpr std::int64_t kRowsPerBlock = 64;
constexpr std::int64_t kElement = 4;

/// to[r][c] = from[c][r] for a rectangle of a transpose, element by element.
void transpose_rest(const InnerLoop& loop, const std::byte* from, std::byte* to, std::int64_t r0, std::int64_t r1,
                    std::int64_t c0, std::int64_t c1) {
  for (std::int64_t r = r0; r < r1; ++r)
    for (std::int64_t c = c0; c < c1; ++c)
      std::memcpy(to + r * loop.to_row_bytes + c * kElement, from + c * loop.from_column_bytes + r * kElement,
                  kElement);
}

void tile_4x4(const std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  const auto row = [&](int i) { return _mm_loadu_ps(reinterpret_cast<const float*>(from + i * from_stride)); };
  __m128 a = row(0);
  __m128 b = row(1);
  __m128 c = row(2);
  __m128 d = row(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  const auto put = [&](int i, __m128 value) { _mm_storeu_ps(reinterpret_cast<float*>(to + i * to_stride), value); };
  put(0, a);
  put(1, b);
  put(2, c);
  put(3, d);
}

/// Source: the usual three-stage 8x8 transpose: unpack pairs, shuffle quads, swap halves.
__attribute__((target("avx"))) void tile_8x8(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                             std::int64_t to_stride) {
  __m256 in[8];
  for (int i = 0; i < 8; ++i) in[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * from_stride));
  __m256 pairs[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(in[i], in[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(in[i], in[i + 1]);
  }
  __m256 quads[8];
  for (int i = 0; i < 8; i += 4) {
    quads[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    quads[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    quads[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    quads[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    const __m256 low = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    const __m256 high = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
    _mm256_storeu_ps(reinterpret_cast<float*>(to + i * to_stride), low);
    _mm256_storeu_ps(reinterpret_cast<float*>(to + (i + 4) * to_stride), high);
  }
}

using Tile = void (*)(const std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride);

void transpose_with(const InnerLoop& loop, const std::byte* from, std::byte* to, Tile tile, std::int64_t side) {
  const std::int64_t whole_rows = loop.rows / side * side;
  const std::int64_t whole_columns = loop.columns / side * side;
  for (std::int64_t r0 = 0; r0 < whole_rows; r0 += kRowsPerBlock) {
    const std::int64_t r1 = std::min(r0 + kRowsPerBlock, whole_rows);
    for (std::int64_t c = 0; c < whole_columns; c += side)
      for (std::int64_t r = r0; r < r1; r += side)
        tile(from + c * loop.from_column_bytes + r * kElement, loop.from_column_bytes,
             to + r * loop.to_row_bytes + c * kElement, loop.to_row_bytes);
    transpose_rest(loop, from, to, r0, r1, whole_columns, loop.columns);
  }
  transpose_rest(loop, from, to, whole_rows, loop.rows, 0, loop.columns);
}

}  // namespace

void transpose_32(const InnerLoop& loop, const std::byte* from, std::byte* to) {
  if (__builtin_cpu_supports("avx")) {
    transpose_with(loop, from, to, tile_8x8, 8);
  } else {
    transpose_with(loop, from, to, tile_4x4, 4);
  }
}

}  // namespace collage::host
