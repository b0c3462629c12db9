// Provides the BLAS libraries that kernels call inside their own loops.
// In:  a library's name, as in the backend `blas`. Out: the library, opened at its first use, or why it cannot be used.
// How: a kernel calls through a pointer that is set when the kernel is loaded; each call runs on one thread.
// Source: backends/blas/library.h, which says which libraries can be loaded together.
#pragma once

#include <expected>
#include <string>

#include "backends/blas/library.h"

namespace collage::native {

/// The same answer at every call. Thread-safe.
[[nodiscard]] const std::expected<blas::Library, std::string>& blas_library(const std::string& name);

}  // namespace collage::native
