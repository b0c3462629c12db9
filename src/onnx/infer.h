// Types and shapes of every value, by ONNX's shape inference with data propagation, taken to a fixed point with the
// folding of shape arithmetic in between: a folded shape makes more shapes static, which makes more of them fold.
#pragma once

#include <string>
#include <vector>

#include "onnx/proto.h"

namespace collage {

/// Infers once: value_info of the graph and of its bodies is written anew. Error import/shape-inference (bad input).
[[nodiscard]] Result<void> infer_shapes(pb::ModelProto& model, const std::string& where);

/// Infers, folds and inlines decided branches until nothing changes any more. Error as infer_shapes.
[[nodiscard]] Result<void> infer_and_fold(pb::ModelProto& model, const std::string& where,
                                          std::vector<std::string>& notes);

}  // namespace collage
