// Kernels that call a function in Python.
// In:  a load request whose artifact is of PythonBackend. Out: a kernel; its calls have arrays over the bound buffers.
// Cost: a run takes the lock of the interpreter, which only one thread at a time has, and a few microseconds.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "bridge.h"

namespace collage::python {

/// Whether arrays have this element type.
[[nodiscard]] bool has_array_type(ElementType type);

/// Has the function prepare itself. `instance` is for errors. Error backend/bad-artifact, backend/library-failed with
/// what was raised.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_function(const Bridge& bridge, const std::string& instance,
                                                            const LoadRequest& request);

}  // namespace collage::python
