// Infers the types and shapes of all values with ONNX's shape inference and data propagation. Inference and the folding
// of shape arithmetic alternate until nothing changes: a folded shape makes further shapes static, and these allow
// further folding.
#pragma once

#include <string>
#include <vector>

#include "onnx/limits.h"
#include "onnx/proto.h"
#include "onnx/vendor_types.h"

namespace collage {

/// Infers once: value_info of the graph and of its bodies is written anew; `vendor` are types known beforehand. Then
/// rules can be checked that depend on shapes. Errors: import/shape-inference (bad input), import/limit for types that
/// are too large, those of check_rules.
[[nodiscard]] Result<void> infer_shapes(pb::ModelProto& model, const VendorTypes& vendor, const ImportLimits& limits,
                                        const std::string& where);

/// Infers, folds and inlines decided branches until nothing changes any more. Errors as infer_shapes.
[[nodiscard]] Result<void> infer_and_fold(pb::ModelProto& model, const VendorTypes& vendor, const ImportLimits& limits,
                                          const std::string& where, std::vector<std::string>& notes);

}  // namespace collage
