// The runtime that is linked into every shared object of kernels: all calls from compiled code to this process go
// through it.
// In:  a table of functions, passed to attach() once after loading. Out: the functions of Halide's runtime, forwarded
//       to the table.
// Cost: one indirect call.
// Source: the names and signatures of HalideRuntime.h, Halide 21.
#pragma once

#include <cstddef>
#include <cstdint>

namespace collage::native {

/// Work of a parallel loop: one iteration. Returns 0, else an error that ends the loop.
using Task = int (*)(void* context, int iteration, std::uint8_t* closure);

/// cblas_sgemm.
using Sgemm = void (*)(int order, int turns_a, int turns_b, int m, int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);

struct RuntimeTable {
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  void (*release)(void* context, void* pointer) = nullptr;
  int (*parallel_for)(void* context, Task task, int first, int count, std::uint8_t* closure) = nullptr;
  Sgemm sgemm = nullptr;  ///< of the library that the kernel names; null when it names none
};

/// The symbol each shared object exports beside its kernels.
using Attach = void (*)(const RuntimeTable* table);
inline constexpr const char* kAttachSymbol = "collage_native_attach";
/// A stage of tensor code: the product of two buffers by (column, row, batches), as Halide calls what it has not made.
/// The result's places say which rows, columns and batches are wanted; a factor of one batch serves all.
inline constexpr const char* kProductSymbol = "collage_native_product";
/// The same by a micro-kernel, whose address comes last. Stages name it through an entry of their shape.
inline constexpr const char* kTileSymbol = "collage_native_tile";
/// A product of fixed extents and steps.
using MicroKernel = void (*)(const float* right, const float* left, float* result);

}  // namespace collage::native
