// Converts between ONNX's TypeProto and ValueType.
#pragma once

#include "ir/type.h"
#include "onnx/proto.h"

namespace collage {

/// Sparse tensors and opaque types, which are not supported, become ValueKind::kUnknown.
[[nodiscard]] ValueType to_value_type(const pb::TypeProto& message);
/// Leaves the message empty for ValueKind::kUnknown.
void write_type(const ValueType& type, pb::TypeProto& message);
/// A value's name and type; no type field when the type is unknown.
void write_value_info(const std::string& name, const ValueType& type, pb::ValueInfoProto& message);

}  // namespace collage
