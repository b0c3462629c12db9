// Makes a program store and multiply 16-bit elements.
// In:  a lowered program of f32 tensors. Out: the same operations, with bf16 in ports, temporaries and factors.
// How: a constant bias, and constants that a step adds or multiplies, keep their type: they are small, and the library
//      adds in f32. Whether the library has an implementation for the types shows when the program is realised.
// Cost: linear in the tensors and operations.
#pragma once

#include <expected>

#include "lowering/composer.h"
#include "region/narrow_variant.h"

namespace collage::onednn {

/// A refusal when no port holds f32.
[[nodiscard]] std::expected<Lowered, Refusal> narrowed(Lowered lowered, NarrowPorts ports);

}  // namespace collage::onednn
