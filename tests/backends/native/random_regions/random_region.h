// Seeded random regions that a tensor compiler should take, as graph texts.
// In: a seed and a kind. Out: one heavy operator with element-wise work before and after it, or element-wise work
// alone.
//     Names follow native_fixture.h, so that the text says every number too.
// How: operators whose results jump (comparisons, rounding) only see inputs, so that another order of summation is no
//      other answer.
// Cost: microseconds; the tensors have some thousand elements.
// Source: ours.
#pragma once

#include <cstdint>
#include <string>

namespace collage::test {

enum class RegionKind : std::uint8_t {
  kElementwise,  ///< several outputs, broadcasts, mixed types
  kConvolution,
  kDepthwise,
  kTransposed,
  kSeparable,  ///< depthwise and pointwise convolutions in a chain
  kProduct,    ///< MatMul, Gemm
  kPooling,
  kRows,  ///< reductions, Softmax, norms
  kMoves,
  kQuantised  ///< random_quantised.h
};

[[nodiscard]] std::string name_of(RegionKind kind);
[[nodiscard]] std::string random_region(RegionKind kind, std::uint64_t seed);

}  // namespace collage::test
