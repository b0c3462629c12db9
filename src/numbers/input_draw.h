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
  /// In the domain that the record shows: floats lie between two recorded ones of equal sign, so that none is nearer to
  /// zero, larger, or of another sign than any recorded; values of few kinds (masks, whole numbers) stay of these
  /// kinds; integers lie between the least and the largest recorded, and are zero only when one was; bools are free.
  kSeeded,
  /// Floats of both signs far beyond the recorded ones, mixed with tiny ones, zeros of both signs and whole numbers.
  kLarge,
  /// Few different floats, so ties everywhere: small whole numbers, zeros of both signs, denormals.
  kTies
};

/// A draw in place of `recorded`; the recorded tensor itself when its type is neither a usual float, an integer nor
/// bool, and for floats that are not finite or look like a mask of -10000 and beyond. `narrow`: arithmetic may be
/// 16-bit, so large stays small enough for that.
[[nodiscard]] Tensor draw_like(const Tensor& recorded, Draw draw, std::uint64_t seed, bool narrow);

}  // namespace collage
