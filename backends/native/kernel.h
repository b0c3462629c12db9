// Loads a stored program as a kernel. No compiler is needed here.
// In: an artifact's program with its constants. Out: a Kernel whose calls run the machine code on bound buffers.
// How: scratch comes from the workspace of the plan, never from the heap; parallel loops run in the OpenMP pool that
//      the other backends use, so that there is one pool and one budget.
// Cost: loading a shared object; a call costs a few nanoseconds beside the work.
// Source: the calling convention NAME_argv(void**) of Halide's objects.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "program.h"

namespace collage::native {

/// Runs the machine code of that number. Errors backend/bad-artifact, io/cannot-write.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_kernel(const StoredProgram& stored, std::size_t code,
                                                          const LoadRequest& request);

}  // namespace collage::native
