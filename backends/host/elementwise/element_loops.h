// The inner loops of element-wise programs: one function for each operation and element type, over a tile of dense
// elements. The f32 loops are compiled three times, for AVX-512, AVX2 and baseline x86-64 (float_loops.inc), the others
// once.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/type.h"

namespace collage::host {

/// Writes n results. `in` holds one pointer per operand; `params` are the operation's constants. `out` may be one of
/// the operands when the sizes of their elements are equal.
using ElementLoop = void (*)(void* out, const void* const* in, const double* params, std::int64_t n);

/// The loop for an operation whose first data operand has type `from` and whose result has type `to`; null when there
/// is none. Names are ONNX's where an ONNX operator is meant.
[[nodiscard]] ElementLoop find_element_loop(std::string_view operation, ElementType from, ElementType to);

/// The f32 loops of one instruction set; null for an unknown operation.
[[nodiscard]] ElementLoop find_float_loop_baseline(std::string_view operation);
[[nodiscard]] ElementLoop find_float_loop_avx2(std::string_view operation);
[[nodiscard]] ElementLoop find_float_loop_avx512(std::string_view operation);

/// The loops of all other types (element_loops.cpp chooses).
[[nodiscard]] ElementLoop find_other_loop(std::string_view operation, ElementType from);
[[nodiscard]] ElementLoop find_cast_loop(ElementType from, ElementType to);

}  // namespace collage::host
