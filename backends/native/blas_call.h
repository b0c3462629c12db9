// The BLAS libraries whose products kernels call inside their own loops.
// In: a library's name, as in the backend `blas`. Out: the library, opened when it is first asked for, or why not.
// How: kernels call through a pointer that is filled in when they are loaded, on one thread a call.
// Source: backends/blas/library.h, which says which libraries can be in one process.
#pragma once

#include <expected>
#include <string>

#include "backends/blas/library.h"

namespace collage::native {

/// The same answer at every call. Thread-safe.
[[nodiscard]] const std::expected<blas::Library, std::string>& blas_library(const std::string& name);

}  // namespace collage::native
