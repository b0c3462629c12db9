// Reads and writes tensors in files: NumPy's .npy and ONNX's serialised TensorProto (.pb).
#pragma once

#include <string>

#include "base/error.h"
#include "ir/tensor.h"

namespace collage {

/// Errors: tensor/not-found, tensor/cannot-read (io); tensor/malformed, tensor/unsupported-type (bad input).
[[nodiscard]] Result<Tensor> read_tensor_pb(const std::string& path);

/// The inverse, for every type. Error tensor/cannot-write (io).
[[nodiscard]] Result<void> write_tensor_pb(const std::string& path, const Tensor& tensor);

/// Reads versions 1 to 3, C or Fortran order, little-endian bool, integers, f16, f32, f64, complex and 'U' strings.
/// Errors as read_tensor_pb.
[[nodiscard]] Result<Tensor> read_npy(const std::string& path);

/// Writes version 1.0 (2.0 for a long header). bf16 is widened to f32; 4-bit and 8-bit floats are refused with
/// tensor/unsupported-type. Error tensor/cannot-write (io).
[[nodiscard]] Result<void> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace collage
