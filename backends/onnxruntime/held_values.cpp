#include "backends/onnxruntime/held_values.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "backends/common/engine/engine_support.h"
#include "onnx/empty_value.h"

namespace collage {
namespace {

// ONNX and ONNX Runtime number element types alike but for the newest three. The headers do not name those.
constexpr std::array<std::pair<ElementType, int>, 3> kOtherNumbers = {
    {{ElementType::kUint2, 24}, {ElementType::kInt2, 25}, {ElementType::kFloat8E8M0, 26}}};

constexpr std::string_view kOwner = "onnxruntime";

std::vector<std::string> strings_of(const Ort::Value& value, std::size_t count) {
  std::vector<std::string> strings(count);
  if (count == 0) return strings;
  std::string text(value.GetStringTensorDataLength(), '\0');
  std::vector<std::size_t> offsets(count);
  value.GetStringTensorContent(text.data(), text.size(), offsets.data(), offsets.size());
  for (std::size_t i = 0; i < count; ++i)
    strings[i] = text.substr(offsets[i], (i + 1 < count ? offsets[i + 1] : text.size()) - offsets[i]);
  return strings;
}

Tensor plain_tensor(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  Tensor tensor{.type = from_onnxruntime(info.GetElementType()), .extents = info.GetShape(), .strings = {}};
  if (tensor.type == ElementType::kString) {
    tensor.strings = strings_of(value, static_cast<std::size_t>(tensor.size()));
    return tensor;
  }
  const std::size_t bytes = byte_count(tensor.type, tensor.extents);
  if (bytes > 0) tensor.data = Buffer::copy_of({static_cast<const std::byte*>(value.GetTensorRawData()), bytes});
  return tensor;
}

Tensor plain_value(const Ort::Value& value, const ValueType& type) {
  if (type.kind == ValueKind::kTensor) return plain_tensor(value);
  Tensor made = make_container(type, {});
  const ValueType& inner = type.inner.front();
  if (type.kind == ValueKind::kOptional) {
    if (value.HasValue()) made.items.push_back(plain_value(value, inner));
    return made;
  }
  const Ort::AllocatorWithDefaultOptions allocator;
  const std::size_t count = type.kind == ValueKind::kMap ? 2 : value.GetCount();
  for (std::size_t i = 0; i < count; ++i) {
    const Ort::Value item = value.GetValue(static_cast<int>(i), allocator);
    made.items.push_back(type.kind == ValueKind::kMap ? plain_tensor(item) : plain_value(item, inner));
  }
  return made;
}

/// The library's interface makes neither empty sequences nor optionals without a value.
Ort::Value make_empty(Ort::Env& environment, const ValueType& type) {
  if (type.kind == ValueKind::kSequence && type.inner.front().kind != ValueKind::kTensor)
    throw std::runtime_error("an empty " + to_string(type));
  const std::string model = empty_value_model(type);
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_FATAL);
  Ort::Session session(environment, model.data(), model.size(), options);
  const char* const name = "y";
  auto outputs = session.Run(Ort::RunOptions(), nullptr, nullptr, 0, &name, 1);
  return std::move(outputs.front());
}

Ort::Value make_tensor_value(const Tensor& tensor) {
  const Ort::AllocatorWithDefaultOptions allocator;
  auto made =
      Ort::Value::CreateTensor(allocator, tensor.extents.data(), tensor.extents.size(), to_onnxruntime(tensor.type));
  if (tensor.type == ElementType::kString) {
    for (std::size_t i = 0; i < tensor.strings.size(); ++i) {
      const std::string& text = tensor.strings[i];
      char* const room = made.GetResizedStringTensorElementBuffer(i, text.size());
      if (!text.empty()) std::memcpy(room, text.data(), text.size());
    }
  } else if (tensor.data.size() > 0) {
    std::memcpy(made.GetTensorMutableRawData(), tensor.data.data(), tensor.data.size());
  }
  return made;
}

}  // namespace

ONNXTensorElementDataType to_onnxruntime(ElementType type) {
  for (const auto& [ours, theirs] : kOtherNumbers)
    if (ours == type) return static_cast<ONNXTensorElementDataType>(theirs);
  return static_cast<ONNXTensorElementDataType>(type);
}

ElementType from_onnxruntime(ONNXTensorElementDataType type) {
  for (const auto& [ours, theirs] : kOtherNumbers)
    if (theirs == static_cast<int>(type)) return ours;
  return static_cast<ElementType>(type);
}

std::string_view OnnxruntimeValue::owner() const { return kOwner; }

Result<Tensor> OnnxruntimeValue::plain() const {
  auto made = guard([&] { return plain_value(value_, type_); });
  if (!made) return library_failed("onnxruntime value of type " + to_string(type_), made.error());
  return *std::move(made);
}

namespace {

Ort::Value make_value(Ort::Env& environment, const ValueType& type, const Tensor& value) {
  switch (type.kind) {
    case ValueKind::kTensor:
      return make_tensor_value(value);
    case ValueKind::kOptional:
      if (value.items.empty()) return make_empty(environment, type);
      return make_value(environment, type.inner.front(), value.items.front());
    case ValueKind::kMap:
      return Ort::Value::CreateMap(make_tensor_value(value.items.at(0)), make_tensor_value(value.items.at(1)));
    case ValueKind::kSequence: {
      if (value.items.empty()) return make_empty(environment, type);
      std::vector<Ort::Value> items;
      for (const Tensor& item : value.items) items.push_back(make_value(environment, type.inner.front(), item));
      return Ort::Value::CreateSequence(items);
    }
    case ValueKind::kUnknown:
      break;
  }
  throw std::runtime_error("a value of unknown kind");
}

}  // namespace

const Ort::Value* onnxruntime_value(const HeldValue& held) {
  return held.owner() == kOwner ? &static_cast<const OnnxruntimeValue&>(held).value() : nullptr;
}

Ort::Value make_onnxruntime_value(Ort::Env& environment, const ValueType& type, const HeldValue& held) {
  const auto plain = held.plain();
  if (!plain) throw std::runtime_error(plain.error().saw);
  return make_value(environment, type, *plain);
}

DynamicOutput tensor_output(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  return {
      .type = from_onnxruntime(info.GetElementType()), .extents = info.GetShape(), .data = value.GetTensorRawData()};
}

}  // namespace collage
