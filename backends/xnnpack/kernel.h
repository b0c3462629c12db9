// A loaded program: weights packed once, and a runtime of the library for each call.
// In:  a program, a load request, a pool of threads. Out: a Kernel.
// Threads: bind() may be called from many threads. A runtime is not shared: it keeps what lies between its
//       operations in memory of its own, which bind() allocates; run() allocates nothing.
// Cost: bind() makes the library's objects, microseconds for an operation; run() makes one call.
// The library may read 16 bytes past the end of what it reads. Constants have them. A buffer of the plan begins on 64
// bytes, so what it ends in belongs to its page, unless it ends at the page's end: such an input is copied before each
// run when an operation reads it that may go past its end.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "pools.h"
#include "program.h"

namespace collage::xnnpack {

/// Error backend/bad-artifact when the program does not fit the request's ports and constants, backend/library-failed
/// when the library refuses it. The kernel keeps alive what it needs of the constants.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_kernel(const Program& program, const LoadRequest& request,
                                                          Pool pool);

/// Whether the library takes the program; the numbers of constants do not matter. Throws std::runtime_error where it
/// does not.
void try_program(const Program& program, std::size_t inputs, std::size_t outputs);

/// Whether the library's kernels for an operation of the program may read past the end of its inputs on this processor.
[[nodiscard]] bool reads_past_end(const Program& program, const Op& op);

}  // namespace collage::xnnpack
