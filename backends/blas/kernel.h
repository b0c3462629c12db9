// A loaded program: a product divided into pieces that run one after another, or on several threads.
// In:  a library, a program, a load request. Out: a Kernel.
// Cost: that of the multiplication. If there is an epilogue, pieces are small enough to stay in the cache for it.
// Not here: the text of programs (program.h).
// Source: BLAS's beta for an addend that is already in the output.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "library.h"
#include "program.h"

namespace collage::blas {

/// The constants of the request stay valid as long as the kernel, which keeps no other reference to it.
[[nodiscard]] std::unique_ptr<Kernel> make_kernel(const Library& library, Program program, const LoadRequest& request);

}  // namespace collage::blas
