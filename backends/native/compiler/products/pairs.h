// Products with constant weights in bfloat16: one instruction multiplies two neighbouring inputs by two weights and
// adds both products to one f32 lane.
// In:  a Dense whose source is stored in bfloat16. Out: Halide code that computes tiles in registers, as in dense.h.
// How: weights are packed in pairs of inputs, an odd one with a zero. The source is copied once when its channels do
//       not lie side by side or are odd in number. Instruction sets without such an instruction, those of the
//       fallback code, compute the same sums in f32.
// Example: with 16 lanes a step of the reduction broadcasts 2 inputs and multiplies them with 2 x 16 weights.
// Cost: half the steps of dense.h.
// Source: VDPBF16PS of AVX-512 BF16; blocked direct convolution (Georganas et al., SC 2018).
#pragma once

#include "compiler/products/dense.h"

namespace collage::native {

/// When a Dense is such a product (facts_of): "bf16" says that the element type is used here.
inline constexpr std::string_view kIsPairs = "bf16 == 1 and groups == 1 and channels > 1";

/// All tiles that build_pairs takes; choices as kDenseChoices.
inline constexpr std::string_view kPairsLegal =
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= out_w and tile_c <= group_vectors and "
    "channel_pairs % unroll == 0";

/// Register tiles, best first.
[[nodiscard]] std::vector<Schedule> pairs_space(const Dense& dense, const Site& site);

/// The whole region. Precondition: kIsPairs, constant weights, a source that is stored in bfloat16. Schedule as in
/// build_dense.
void build_pairs(const Dense& dense, const Site& site, const Schedule& schedule, Lowering& lowering);

}  // namespace collage::native
