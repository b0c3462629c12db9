// Products with constant weights in 16-bit fixed point: one instruction multiplies two neighbouring inputs by two
// weights and adds both products to one i32 lane.
// In:  a Dense. Out: Halide code that computes tiles in registers, as in dense.h.
// How: an output's weights are integers times one scale, fixed when they are packed. The inputs of one place, or of one
//       row where windows have several places, are integers times a scale that each run takes from the largest of them.
//       Sums of integers are exact: the weights' scales leave room for every sum. They cover one row of a window at
//       most, fewer channels where these are many, and are added up in f32.
// Example: inputs up to 3 are multiples of 3 / 8191, so that they err by 1.8e-4 at most; bfloat16 errs by 2^-9 of each.
// Cost: half the steps of dense.h, and two passes over the source, of one thread through the cache.
// Source: VPDPWSSD of AVX-512 VNNI; dynamic quantisation of activations, a scale for each row and each output.
#pragma once

#include "compiler/products/dense.h"

namespace collage::native {

/// When a Dense is such a product (facts_of): processors that multiply bfloat16 have the instruction, too. With few
/// outputs rounding the source costs more than is saved.
inline constexpr std::string_view kIsFixedPoint = "bf16 == 1 and groups == 1 and channels % 4 == 0 and outputs >= 12";

/// The whole region. Precondition: kIsFixedPoint, constant weights. Schedule as in build_pairs, whose space and legal
/// tiles are those of this product, too.
void build_fixed_point(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering);

}  // namespace collage::native
