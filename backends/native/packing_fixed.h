// Weights in 16-bit fixed point: integers, and the units in which they are.
// In:  a constant, a packing of the kinds kFixedPairs, kFixedScales, kFixedWinograd or kFixedWinogradScales. Out: its
//       bytes.
// How: an output's unit, at each point of a transform, is the largest of its weights over 32767, or larger where a sum
//       of products could leave 32 bits.
// Cost: two passes over the weights; Winograd's are transformed before each of both kinds.
#pragma once

#include "packing.h"

namespace collage::native {

[[nodiscard]] bool fits_fixed(const Packing& packing, const Tensor& source);
/// Precondition of both: fits_fixed().
[[nodiscard]] std::size_t fixed_bytes(const Packing& packing);
/// `to` has so many bytes, all zero.
void fill_fixed(const Packing& packing, const Tensor& source, std::byte* to);

}  // namespace collage::native
