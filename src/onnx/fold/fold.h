// Evaluates shape arithmetic at import: integer operators (and scale factors of Resize) on small known operands, so
// that the shapes they compute become static. General constant folding is a pass (passes/fold_constants.cpp).
#pragma once

#include "onnx/limits.h"
#include "onnx/proto.h"

namespace collage {

/// Constant nodes and sparse initialisers become dense initialisers, in bodies too. Errors of DenseTensors;
/// import/invalid-model for a Constant without a value.
[[nodiscard]] Result<void> constants_to_initialisers(pb::GraphProto& graph, const ImportLimits& limits);

/// Folds what can be folded with the types in value_info as they are; returns how many nodes were removed.
/// Nodes that produce an output of their graph stay.
[[nodiscard]] int fold_shape_arithmetic(pb::GraphProto& graph);

/// Drops unread trailing outputs that the operator may omit (the mask of Dropout, the indices of MaxPool): some are
/// illegal in combinations that exporters write nevertheless.
void drop_unused_outputs(pb::ModelProto& model);

/// Drops initialisers that no node and no output reads, in bodies too.
void drop_unused_initialisers(pb::GraphProto& graph);

}  // namespace collage
