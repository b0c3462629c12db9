// Makes a program executable: selects an implementation for every operation, and splits off post-ops that it does not
// support.
// In:  a program as lowered. Out: the program with fixed implementations, and the scratch that it needs. Calls the
//       library.
#pragma once

#include <expected>

#include "primitives/primitives.h"
#include "region/refusal.h"

namespace collage::onednn {

/// Where temporaries and the primitives' scratch lie in the workspace, in bytes.
struct WorkspaceMap {
  std::vector<std::size_t> temporaries;  ///< offset by temporary
  std::size_t scratch = 0;               ///< shared by all operations, which run one after another
  std::size_t bytes = 0;
};

/// Post-ops that the implementation refuses follow as operations on the result in place. A refusal when an operation
/// has no implementation, or when a sum or depthwise convolution cannot be fused.
[[nodiscard]] std::expected<Program, Refusal> realise(Program program, const dnnl::engine& engine);

/// One per operation of a realised program, in order; the message of the first that fails.
[[nodiscard]] std::expected<std::vector<BuiltOp>, std::string> build_all(const Program& program,
                                                                         const dnnl::engine& engine);

/// Of a program that check_program() passed, or that was lowered here. Throws std::runtime_error for more scratch than
/// memory has.
[[nodiscard]] WorkspaceMap map_workspace(const Program& program, const std::vector<BuiltOp>& ops);

/// Fixes how many threads the library's next primitives are made for and run on.
void use_threads(int threads);

}  // namespace collage::onednn
