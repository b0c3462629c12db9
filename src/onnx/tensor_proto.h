// Converts between ONNX's TensorProto and Tensor. Sizes are checked against the data before anything is allocated.
#pragma once

#include <optional>
#include <string>

#include "ir/tensor.h"
#include "onnx/proto.h"

namespace collage {

/// ONNX's number as an element type; nothing for undefined and unknown numbers.
[[nodiscard]] std::optional<ElementType> element_type_from(std::int64_t data_type);

/// Bytes of a dense tensor of these dimensions; nothing when negative, overflowing or of unknown size.
[[nodiscard]] std::optional<std::size_t> checked_byte_count(ElementType type, const Extents& extents);

/// The dimensions of the message; error import/bad-tensor for a negative one or a product that overflows.
[[nodiscard]] Result<Extents> extents_of(const pb::TensorProto& message, const std::string& where);

/// Reads a tensor whose data is inside the message. Errors: import/bad-tensor, import/unsupported-type.
[[nodiscard]] Result<Tensor> to_tensor(const pb::TensorProto& message, const std::string& where);

/// Writes `tensor` with its bytes inside.
void write_tensor(const Tensor& tensor, const std::string& name, pb::TensorProto& message);
/// Writes everything but the bytes: name, type, dimensions.
void write_tensor_header(const Tensor& tensor, const std::string& name, pb::TensorProto& message);

}  // namespace collage
