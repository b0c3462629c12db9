// Makes a kernel from a program with a kernel set (kernel_set.h); shapes are given when it is bound.
// In:  a program with a set, a loaded object. Out: a MultiKernel. Outputs of open extents belong to their calls.
// Cost: bind_at() takes some hundred nanoseconds and the memory of the outputs; run() as any other call.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "call.h"

namespace collage::native {

/// Precondition: the program has a set without faults. Errors as of load_kernel().
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_open_kernels(const Program& program, std::size_t code,
                                                                const LoadRequest& request,
                                                                std::shared_ptr<const LoadedObject> object);

}  // namespace collage::native
