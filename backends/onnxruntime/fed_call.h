// A call that gives the session its inputs anew in every run, for what a binding does not take.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/onnxruntime/bound_port.h"
#include "backends/onnxruntime/session.h"

namespace collage {

/// As Kernel::bind; throws what the library throws.
[[nodiscard]] std::unique_ptr<Call> make_fed_call(std::shared_ptr<OnnxruntimeSession> session,
                                                  const std::vector<BoundPort>& inputs,
                                                  const std::vector<BoundPort>& outputs, const Buffers& buffers,
                                                  std::span<const Extents> extents);

}  // namespace collage
