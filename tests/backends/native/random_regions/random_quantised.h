// Seeded random regions of 8-bit arithmetic, in every way of writing it that the compiler takes.
// In: a seed. Out: a convolution or product of bytes, plain or depthwise, with zero points, scales of tensors or
//     outputs, and work behind it.
// How: names follow native_fixture.h; only pairs of types that the reference computes.
// Cost: microseconds. Source: ours.
#pragma once

#include <cstdint>
#include <string>

namespace collage::test {

[[nodiscard]] std::string random_quantised(std::uint64_t seed);

}  // namespace collage::test
