// Reads and writes values of any type in files: .npy, ONNX's .pb, .json.
//     .npy   tensors (tensor_file.h)
//     .pb    TensorProto, SequenceProto, OptionalProto or MapProto, by the type that is wanted
//     .json  {"schema": "collage.value/1", "type": "str[2]", "value": ["a", "b"]}; when read also the bare value
//            (ir/value_json.h)
#pragma once

#include <string>

#include "base/error.h"
#include "ir/tensor.h"

namespace collage {

/// `type` is what the value is for, an unknown type what is in the file: a tensor. What comes has the kind of the type,
/// and is not checked further (ir/check_value.h). Errors: tensor/not-found, tensor/cannot-read (io); tensor/malformed,
/// tensor/unsupported-type, tensor/too-large (a .json file beyond 256 MiB).
[[nodiscard]] Result<Tensor> read_value(const std::string& path, const ValueType& type);

/// The file name's ending in which a value of this type is best written: "npy" for tensors of numbers, "json" for
/// strings and what is made of tensors, "pb" for what JSON does not have.
[[nodiscard]] std::string best_ending(const Tensor& value);

/// By the path's ending. Errors: tensor/cannot-write (io), tensor/unsupported-type, tensor/not-utf8.
[[nodiscard]] Result<void> write_value(const std::string& path, const Tensor& value);

}  // namespace collage
