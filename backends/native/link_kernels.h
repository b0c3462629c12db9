// The kernels of a plan in one shared object, linked from the object files that were measured.
// In: artifacts of single kernels. Out: units (program.h), one for kernels of the same instruction sets and BLAS, and
//     the entry point of each kernel.
// How: every kernel's symbol is named after what it was compiled from (compiler/compile.cpp), so that object files of
//      different kernels can be linked together, and equal ones are linked once. A kernel stays alone when it is a set
//      for open shapes, when its artifact has no object files, or when its symbol stands for other code already.
// Cost: one run of `ld` a unit and instruction set, some ten milliseconds.
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
