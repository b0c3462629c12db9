// Checks how the parts of a model fit together where ONNX's checker does not look: bodies and the nodes around them,
// constants, references to attributes, outputs of functions, types of operands.
#pragma once

#include "onnx/proto.h"

namespace collage {

/// Before functions are inlined. Error import/invalid-model.
[[nodiscard]] Result<void> check_structure(const pb::ModelProto& model);

/// Element types of operands that an operator does not take, or that have to be the same and are not. For the outermost
/// graph, with inferred types: a body that never runs need not fit. Error import/invalid-model.
[[nodiscard]] Result<void> check_operand_types(const pb::ModelProto& model);

}  // namespace collage
