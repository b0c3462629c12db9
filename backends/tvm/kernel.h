// A loaded program: kernels of one shared object, with constants in the form that they read.
// In:  a program, the bytes of its object, a load request. Out: a Kernel.
// Threads: bind() may be called from many threads; a call belongs to one. Its scratch is the plan's.
// Cost: loading prepares constants unless that was done before; run() makes one call for each kernel.
#pragma once

#include <memory>

#include "backend/extensions/constants_extension.h"
#include "backends/tvm/program.h"

namespace collage::tvm {

/// Error backend/bad-artifact when the program does not fit the request's ports and constants.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_kernel(const StoredProgram& stored, const LoadRequest& request);

/// The artifact with constants that need no preparation. Errors as above.
[[nodiscard]] Result<PreparedArtifact> prepare(const StoredProgram& stored, const LoadRequest& request);

}  // namespace collage::tvm
