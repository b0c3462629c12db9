// Checks the header and the size of every tensor of a model, before any of them is copied or converted.
#pragma once

#include "onnx/limits.h"
#include "onnx/proto.h"

namespace collage {

/// Exactly one field holds the data, that field is the one of the element type, and it has as many bytes as the
/// dimensions say. Readers differ in which of two fields they prefer: such a file means two models.
/// Errors: import/bad-tensor, import/unsupported-type, import/limit.
[[nodiscard]] Result<void> check_tensors(const pb::ModelProto& model, const ImportLimits& limits);

/// Types of values as inference left them: no more dimensions and elements than the limits allow, no negative extent.
/// Not those of bodies: one that never runs need not fit the shapes that come in.
/// Errors: import/limit, import/shape-inference.
[[nodiscard]] Result<void> check_types(const pb::GraphProto& graph, const ImportLimits& limits);

}  // namespace collage
