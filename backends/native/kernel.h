// Makes a kernel from a program and a loaded shared object, without a compiler.
// In:  a program, its constants, its machine code. Out: a Kernel whose calls run the machine code on bound buffers.
// How: scratch comes from the plan's workspace, never from the heap. Parallel loops run on the session's thread pool
//       when it has one, else on the OpenMP threads that other backends use too, so that there is one set of threads.
// Cost: a call adds a few nanoseconds.
// Source: the calling convention NAME_argv(void**) of Halide's objects.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "call.h"

namespace collage::native {

/// `object` has the program's code of that number. Error backend/bad-artifact.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_kernel(const Program& program, std::size_t code,
                                                          const LoadRequest& request,
                                                          std::shared_ptr<const LoadedObject> object);

}  // namespace collage::native
