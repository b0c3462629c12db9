// Makes the products of a program multiply pairs of bfloat16 numbers that stand for float32 ones.
// In:  a lowered program of f32 tensors. Out: the same operations, with sources split before them and weights when they
//      are packed (primitives/split.h). Ports and results stay f32.
// Cost: linear in the tensors and operations.
#pragma once

#include <expected>

#include "lowering/composer.h"
#include "region/refusal.h"

namespace collage::onednn {

/// A refusal when no operation is a product of dense rows of f32 and constant weights.
[[nodiscard]] std::expected<Lowered, Refusal> split(Lowered lowered);

}  // namespace collage::onednn
