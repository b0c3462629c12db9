// Adds the operations of a program to a subgraph of the library.
// In:  a program, a subgraph with its tensors. Out: nodes in the subgraph.
// Not here: tensors and runtimes (subgraph.h).
#pragma once

#include <xnnpack.h>

#include <vector>

#include "program.h"

namespace collage::xnnpack {

/// `ids`: the subgraph's number of each tensor that an operation uses. Throws std::runtime_error where the library
/// refuses an operation, or where its tensors have other extents than the library relies on without looking.
void define_nodes(const Program& program, xnn_subgraph_t subgraph, std::vector<std::uint32_t> ids);

}  // namespace collage::xnnpack
