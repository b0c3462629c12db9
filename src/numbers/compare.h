// Compares the outputs of a candidate with those of the reference.
// In:  both tensors and the accuracy class. Out: a Comparison with the first wrong element.
// An element of type float may differ by
//     share * (largest finite magnitude of the expected tensor) + relative * |expected| + floor.
// The first term gives tiny elements of a large output a bound relative to the output rather than to themselves. The
// second one adapts to large elements, so that one huge element does not hide errors of the others. The third makes
// expected zeros comparable. NaN and infinities must be in the same places with the same sign. docs/NUMBERS.md has the
// numbers for each class.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.h"
#include "ir/tensor.h"

namespace collage {

/// The three parts of a floating-point bound.
struct Tolerance {
  double share = 0;     ///< of the output's largest finite magnitude
  double relative = 0;  ///< of the element's own magnitude
  double floor = 0;     ///< absolute
  bool operator==(const Tolerance&) const = default;
};

/// The bound of an accuracy class; values that are 16-bit in the model have their own bound in all classes.
[[nodiscard]] Tolerance tolerance_of(Accuracy accuracy, bool model_is_16bit);

struct Comparison {
  bool ok = false;
  double max_abs = 0;               ///< largest |seen - expected| over elements finite on both sides
  double max_rel = 0;               ///< largest |seen - expected| / |expected| over those with expected != 0
  std::int64_t first_failing = -1;  ///< row-major element index; -1 when none or when the kind itself differs
  double seen = 0;                  ///< at first_failing; complex elements show the failing component
  double expected = 0;
  double allowed = 0;    ///< the largest |seen - expected| allowed there
  std::string mismatch;  ///< "f32[2], expected f16[2]" when type, extents or byte count differ; else empty
};

/// Compares element by element. Floats and complex use the bound above plus `slack`; integers may differ by `slack`,
/// everything else must be bit-equal. Thread-safe; allocates nothing large.
[[nodiscard]] Comparison compare(const Tensor& seen, const Tensor& expected, Accuracy accuracy, bool model_is_16bit,
                                 double slack = 0);

/// The same for floats, with bounds that scale with `sizes` (of the type and extents of `expected`) in place of
/// |expected|:
///     share * (largest size) + relative * size + floor.
/// For sums whose terms cancel: sizes are the sums of |a||b|, which is what bounds their rounding errors.
[[nodiscard]] Comparison compare_sized(const Tensor& seen, const Tensor& expected, const Tensor& sizes,
                                       Accuracy accuracy, bool model_is_16bit);

/// "element 12: saw 3.5, expected 1.25 +- 0.0001" or "equal": the text of a refusal.
[[nodiscard]] std::string to_string(const Comparison& comparison);

}  // namespace collage
