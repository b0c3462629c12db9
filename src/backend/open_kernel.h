// A kernel of an artifact that serves many shapes: the extents of its inputs are given when it is bound to buffers.
// In: a loaded artifact with input ports whose types have open dimensions. Out: calls for inputs of given extents.
// How: runtime asks a kernel whether it is one (dynamic_cast) only for steps that read inputs of open shape.
// Cost: of bind(): what the library needs to see another shape; nothing is compiled anew by us.
#pragma once

#include <memory>
#include <span>

#include "backend/backend.h"

namespace collage {

class OpenKernel : public Kernel {
 public:
  /// Like bind() with one list of extents for each input, which fit the types of its ports. Outputs whose type is open
  /// get null and are read with Call::dynamic_output(). Thread-safe. Errors backend/*.
  [[nodiscard]] virtual Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                              std::span<const Extents> inputs) const = 0;
};

}  // namespace collage
