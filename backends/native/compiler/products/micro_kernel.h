// Generates small matrix products as machine code with libxsmm, while a kernel is compiled.
// In:  a shape and an instruction set. Out: the bytes of a self-contained function, which become part of the kernel.
// How: the generator is linked in if it was present at build time. Running a kernel needs no library.
// Cost: microseconds to generate, a few kilobytes of code.
// Source: LIBXSMM (Heinecke et al., SC 2016).
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "embedded/kernel_runtime.h"
#include "instruction_set.h"

namespace collage::native {

/// result[rows][columns] = left[rows][depth] * right[depth][columns], f32, rows of neighbouring elements.
struct MicroProduct {
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::int64_t left_step = 0, right_step = 0, result_step = 0;  ///< elements from row to row
  auto operator<=>(const MicroProduct&) const = default;
};

/// Of the stage that computes it, named by its shape.
[[nodiscard]] inline std::string symbol_of(const MicroProduct& product) {
  std::string symbol = kTileSymbol;
  for (const std::int64_t number :
       {product.rows, product.columns, product.depth, product.left_step, product.right_step, product.result_step})
    symbol += '_' + std::to_string(number);
  return symbol;
}

/// The generator's version, 117 for 1.17; 0 when this program was built without any.
[[nodiscard]] std::int64_t micro_kernel_version();

/// The code of a function (const float* right, const float* left, float* result), or why there is none.
[[nodiscard]] std::expected<std::string, std::string> micro_kernel(const MicroProduct& product,
                                                                   const InstructionSet& set);

}  // namespace collage::native
