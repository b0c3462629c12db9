// Bounds what inlining the functions of a model would make, before anything is inlined.
// In:  a model. Out: nothing, or an error.
// How: sizes by dynamic programming over the graph of calls; each function is looked at once, however often it is
// called.
#pragma once

#include <string>

#include "onnx/limits.h"
#include "onnx/proto.h"

namespace collage {

/// Errors: import/invalid-model for functions that call themselves, with the chain of calls, or that are defined twice;
/// import/limit for chains that are too long, too many nodes, or too many bytes of constants.
[[nodiscard]] Result<void> check_functions(const pb::ModelProto& model, const ImportLimits& limits,
                                           const std::string& where);

}  // namespace collage
