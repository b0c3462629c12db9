// Loads the program of a set of kernels (kernel_set.h): shapes come when it is bound.
// In: a stored program with a set. Out: a MultiKernel. Outputs of open extents belong to their calls.
// Cost: of bind_at() some hundred nanoseconds and the memory of outputs; of run() that of any other call.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "program.h"

namespace collage::native {

/// Precondition: the program has a set without faults. Errors as of load_kernel().
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_open_kernels(const StoredProgram& stored, std::size_t code,
                                                                const LoadRequest& request);

}  // namespace collage::native
