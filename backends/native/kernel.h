// Makes a kernel of a program and a loaded shared object. No compiler is needed here.
// In: a program, its constants, its machine code. Out: a Kernel whose calls run the machine code on bound buffers.
// How: scratch comes from the workspace of the plan, never from the heap; parallel loops run in the OpenMP pool that
//      the other backends use, so that there is one pool and one budget.
// Cost: a call costs a few nanoseconds beside the work.
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
