// What a shared object of kernels asks of the process that runs it: the only door between compiled code and us.
// In: attach() is given a table of functions once, after loading. Out: Halide's runtime names, answered through it.
// Cost: one indirect call.
// Source: the names and signatures of HalideRuntime.h, Halide 21.
#pragma once

#include <cstddef>
#include <cstdint>

namespace collage::native {

/// Work of a parallel loop: one iteration. Returns 0, else an error that ends the loop.
using Task = int (*)(void* context, int iteration, std::uint8_t* closure);

struct RuntimeTable {
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  void (*release)(void* context, void* pointer) = nullptr;
  int (*parallel_for)(void* context, Task task, int first, int count, std::uint8_t* closure) = nullptr;
};

/// The symbol each shared object exports beside its kernels.
using Attach = void (*)(const RuntimeTable* table);
inline constexpr const char* kAttachSymbol = "collage_native_attach";

}  // namespace collage::native
