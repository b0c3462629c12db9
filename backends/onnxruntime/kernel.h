// A kernel that runs an ONNX Runtime session: buffers are bound once, a call is one Run over the binding.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backends/onnxruntime/session.h"

namespace collage {

/// Errors: backend/bad-artifact when the session's inputs or outputs are not the ports, backend/library-failed.
[[nodiscard]] Result<std::unique_ptr<Kernel>> make_kernel(std::shared_ptr<OnnxruntimeSession> session,
                                                          const std::vector<Port>& inputs,
                                                          const std::vector<Port>& outputs);

}  // namespace collage
