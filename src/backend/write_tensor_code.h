// Helpers for the hook `lower` of a backend: describe the buffers of tensor code one at a time.
// In:  values that a region reads or writes. Out: arguments of tensor code.
#pragma once

#include "backend/tensor_code.h"

namespace collage {

/// An argument for a value that the region reads: an input of it, else a constant. Gives the name that the pipeline's
/// ImageParam must have; it has the type of the value and these extents, row-major. Each call adds another argument.
[[nodiscard]] std::string add_operand(TensorCode& code, const Graph& graph, const Region& region, ValueId id,
                                      Extents extents);

/// The argument for the pipeline's next output: an output of the region. Operands are added before.
void add_result(TensorCode& code, const Graph& graph, const Region& region, ValueId id, Extents extents);

}  // namespace collage
