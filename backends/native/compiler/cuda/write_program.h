// Tensor code as CUDA C: one kernel for each stage.
// In:  tensor code. Out: a CudaProgram, or why there is none.
// How: a thread computes one place of a stage with all its updates, one after the other. Where a place is a sum,
// product,
//       maximum or minimum of many numbers, a block of threads computes it: each thread joins a part of them, and
//       shared memory joins the threads. Values between stages lie in the workspace.
// Cost: milliseconds for a region.
// Example: a Softmax is three kernels: the greatest number of each row, the sum of its powers, the quotients.
// Source: CUDA C++ Programming Guide; reductions by halves in shared memory (Harris, Optimizing Parallel Reduction in
//       CUDA, 2007).
#pragma once

#include <expected>

#include "compiler/codegen/lowering.h"
#include "cuda_program.h"
#include "region/refusal.h"

namespace collage::native::cuda {

/// How a sum, product, maximum or minimum of many numbers is computed.
enum class Sums : std::uint8_t { kByThreads, kByBlocks };

/// Halide's errors are thrown. Refusals: kCompile, kStructure, kShape.
[[nodiscard]] std::expected<CudaProgram, Refusal> write_program(const TensorCode& code, Sums sums);

}  // namespace collage::native::cuda
