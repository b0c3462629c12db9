// A kernel made of one function: what a backend needs that has no state of its own for each call.
// In: a function of buffers. Out: a kernel.
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
