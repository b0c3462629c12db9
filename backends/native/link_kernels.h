// Links the kernels of a plan into one shared object, from the object files that were measured.
// In:  artifacts of single kernels. Out: units (program.h), one for all kernels with the same instruction sets and
//       BLAS; the entry point of each kernel.
// How: a kernel's symbol is derived from what it was compiled from (compiler/compile.cpp), so object files of different
//       kernels can be linked together, and equal ones are linked once. A kernel stays separate if it is a set for open
//       shapes, if its artifact has no object files, or if its symbol already stands for other code.
// Cost: one run of `ld` for each unit and instruction set, some ten milliseconds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backend/extensions/link_extension.h"
#include "program.h"

namespace collage::native {

/// Links object files and the runtime to one shared object; the compiler's (compiler_interface.h).
using LinkObjects = Result<std::string> (*)(std::span<const std::string_view> objects);

/// Kernels whose artifacts are not of this build stay alone. Errors of the linker.
[[nodiscard]] Result<LinkedKernels> link_kernels(std::span<const LoadRequest> kernels, LinkObjects link);

}  // namespace collage::native
