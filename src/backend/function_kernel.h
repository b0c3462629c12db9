// A kernel that calls one function, for backends that keep no state for a bound call.
// Cost: one indirect call a run.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.h"

namespace collage {

/// Computes the outputs from the inputs, as Call::run. May run in many threads at once, on other buffers.
using KernelFunction = std::function<Result<void>(const Buffers& buffers)>;

[[nodiscard]] std::unique_ptr<Kernel> make_kernel(KernelFunction function);

}  // namespace collage
