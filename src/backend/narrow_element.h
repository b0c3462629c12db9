// Which 16-bit element types kernels may store and compute in.
// In:  the options of a compilation, this processor. Out: an element type, or nothing.
// How: in tests the environment variable COLLAGE_NARROW_ELEMENT ("bf16", "f16", "none") names the type in place of the
//      processor's own: numbers are rounded in the same places by other instructions. Other names change nothing.
#pragma once

#include <optional>

#include "backend/backend.h"

namespace collage {

/// The type that float32 values may be stored in, in accuracy class `fast`: bfloat16 where the processor multiplies it,
/// else float16 where the processor converts it (F16C), else nothing. Backends offer narrow formats only when this
/// names a type, and in that type alone.
[[nodiscard]] std::optional<ElementType> narrow_element(const CompileOptions& options);

/// The same type where the processor also multiplies it: bfloat16 (AVX512_BF16), else nothing. Backends offer 16-bit
/// arithmetic only when this names a type.
[[nodiscard]] std::optional<ElementType> multiplied_narrow_element(const CompileOptions& options);

/// Whether the processor multiplies tiles of bfloat16: AMX. Source: Intel's Software Developer's Manual, CPUID leaf 7.
[[nodiscard]] bool multiplies_tiles();

/// Whether products of float32 values, each split into two bfloat16 numbers (kSplitFloats), may be faster than those of
/// float32: in accuracy class `fast`, where the processor multiplies tiles. In tests wherever it multiplies
/// bfloat16 and the environment variable names that.
[[nodiscard]] bool multiplies_split_floats(const CompileOptions& options);

}  // namespace collage
