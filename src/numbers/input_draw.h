// Draws inputs for a region that resemble the recorded ones.
// In: a recorded tensor, the kind of draw, a seed. Out: another tensor of the same type and extents.
// Cost: about one nanosecond for an element: elements are picked from a few thousand drawn numbers.
// Deterministic: the same seed and record give the same bytes on any machine.
// Source: SplitMix64 (Steele, Lea and Flood 2014).
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "ir/tensor.h"

namespace collage {

enum class Draw : std::uint8_t {
  /// Within the range of the recorded values. Floats lie between two recorded ones of the same sign, so that no value
  /// is nearer to zero, larger, or of another sign than the recorded ones. Values of which only a few distinct ones
  /// were recorded (masks, whole numbers) are drawn from these. Integers lie between the least and the largest recorded
  /// one, and are zero only if a recorded one is. Bools are free.
  kSeeded,
  /// Floats of both signs far beyond the recorded ones, mixed with tiny ones, zeros of both signs and whole numbers.
  kLarge,
  /// Few different floats, so that there are many ties: small integers, zeros of both signs, denormals.
  kTies
};

/// Random values to be used in place of `recorded`. Returns the recorded tensor itself when its type is neither a usual
/// float, an integer nor bool, and for floats that are not finite or look like a mask (-10000 and below). `narrow`:
/// arithmetic may be 16-bit, so large values stay small enough for it.
[[nodiscard]] Tensor draw_like(const Tensor& recorded, Draw draw, std::uint64_t seed, bool narrow);

}  // namespace collage
