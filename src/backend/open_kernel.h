// A kernel for many shapes: it gets the extents of its inputs when it is bound to buffers.
// In:  a loaded artifact whose input types have open dimensions. Out: calls for inputs of given extents.
// How: the runtime uses Kernel::as_open() for steps that read values whose extents the plan does not know: inputs of an
//      open plan, and values that an earlier step made. For the latter a call is bound during the run, and moved to
//      other inputs where it can be (Call::move_inputs).
#pragma once

#include <memory>
#include <span>

#include "backend/backend.h"

namespace collage {

class MultiKernel;

class OpenKernel : public Kernel {
 public:
  [[nodiscard]] const OpenKernel* as_open() const final { return this; }
  /// This kernel as a set of kernels for parts of the shapes (open_compiler.h); null when it is a single one.
  [[nodiscard]] virtual const MultiKernel* as_multi() const { return nullptr; }
  /// Like bind() with one list of extents for each input, which fit the types of its ports. Outputs whose type is open
  /// get null and are read with Call::dynamic_output(). Thread-safe. Errors backend/*.
  [[nodiscard]] virtual Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                              std::span<const Extents> inputs) const = 0;
};

}  // namespace collage
