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

/// Calls `use` with the library's value for a held one, which is only valid meanwhile; throws what the library throws, and
/// std::runtime_error for a value that it cannot hold.
template <class Use>
void with_onnxruntime_value(Ort::Env& environment, const ValueType& type, const HeldValue& held, Use&& use);

/// A new value of the library; exceptions as above.
[[nodiscard]] Ort::Value make_onnxruntime_value(Ort::Env& environment, const ValueType& type, const Tensor& value);

template <class Use>
void with_onnxruntime_value(Ort::Env& environment, const ValueType& type, const HeldValue& held, Use&& use) {
  if (held.owner() == "onnxruntime") return use(static_cast<const OnnxruntimeValue&>(held).value());
  const auto plain = held.plain();
  if (!plain) throw std::runtime_error(plain.error().saw);
  use(make_onnxruntime_value(environment, type, *plain));
}

}  // namespace collage
