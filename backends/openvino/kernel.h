// A kernel that runs a compiled model: one inference request for each call, whose tensors use the given buffers.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backends/openvino/compiled.h"

namespace collage {

/// Error backend/bad-artifact when the model's ports are not the step's.
[[nodiscard]] Result<std::unique_ptr<Kernel>> make_kernel(std::shared_ptr<OpenvinoModel> model,
                                                          const std::vector<Port>& inputs,
                                                          const std::vector<Port>& outputs);

}  // namespace collage
