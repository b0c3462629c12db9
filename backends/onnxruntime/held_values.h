// Strings, sequences, optionals and maps as ONNX Runtime holds them, and how they become values of ours and back.
// In:  a value of the library, or a HeldValue. Out: the other.
// Cost: a copy of all elements; none between two kernels of this backend.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <memory>

#include "backend/held_value.h"

namespace collage {

/// Element types under the numbers of the library.
[[nodiscard]] ONNXTensorElementDataType to_onnxruntime(ElementType type);
[[nodiscard]] ElementType from_onnxruntime(ONNXTensorElementDataType type);

/// An output of a run. Refers to the library's value, which outlives it.
class OnnxruntimeValue final : public HeldValue {
 public:
  OnnxruntimeValue(const Ort::Value& value, ValueType type) : value_(value), type_(std::move(type)) {}

  [[nodiscard]] std::string_view owner() const override;
  [[nodiscard]] Result<Tensor> plain() const override;
  [[nodiscard]] const Ort::Value& value() const { return value_; }

 private:
  const Ort::Value& value_;
  ValueType type_;
};

/// The library's own value behind a held one, which is as valid as that; null when it is another's.
[[nodiscard]] const Ort::Value* onnxruntime_value(const HeldValue& held);

/// A new value of the library; throws what the library throws, and std::runtime_error for a value that it cannot hold.
[[nodiscard]] Ort::Value make_onnxruntime_value(Ort::Env& environment, const ValueType& type, const HeldValue& held);

/// A tensor that a run made, as an output of a call.
[[nodiscard]] DynamicOutput tensor_output(const Ort::Value& value);

}  // namespace collage
