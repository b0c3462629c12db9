#include "backends/onnxruntime/output_types.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "backends/common/engine/engine_support.h"
#include "backends/onnxruntime/session.h"

namespace collage {
namespace {

using Types = std::map<std::string, ValueType>;
using Shapes = std::vector<std::vector<std::int64_t>>;

/// What element number i is.
using Filling = std::function<std::int64_t(std::size_t i)>;

template <class T>
void fill_as(std::span<std::byte> bytes, const Filling& filling) {
  for (std::size_t i = 0; i * sizeof(T) < bytes.size(); ++i) {
    const T value = static_cast<T>(filling(i));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
  }
}

/// Zeros in types that C++ lacks.
void fill(ONNXTensorElementDataType type, std::span<std::byte> bytes, const Filling& filling) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return fill_as<float>(bytes, filling);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return fill_as<double>(bytes, filling);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return fill_as<std::int64_t>(bytes, filling);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return fill_as<std::int32_t>(bytes, filling);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return fill_as<std::uint8_t>(bytes, filling);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return fill_as<std::int8_t>(bytes, filling);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return fill_as<bool>(bytes, [&](std::size_t i) { return filling(i) != 0 ? 1 : 0; });
    default:
      std::ranges::fill(bytes, std::byte{0});
  }
}

ValueType type_of(const Ort::ConstTensorTypeAndShapeInfo& info) {
  return ValueType::tensor(static_cast<ElementType>(info.GetElementType()), info.GetShape());
}

/// The shapes of the session's inputs; nothing unless all are tensors of known extents.
std::optional<Shapes> static_inputs(const Ort::Session& session) {
  Shapes shapes;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    const Ort::TypeInfo type = session.GetInputTypeInfo(i);
    if (type.GetONNXType() != ONNX_TYPE_TENSOR) return std::nullopt;
    const auto tensor = type.GetTensorTypeAndShapeInfo();
    if (tensor.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return std::nullopt;
    shapes.push_back(tensor.GetShape());
    if (std::ranges::any_of(shapes.back(), [](std::int64_t extent) { return extent < 0; })) return std::nullopt;
  }
  return shapes;
}

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> list;
  for (const std::string& name : names) list.push_back(name.c_str());
  return list;
}

/// The types of what one run gives.
Types types_of_run(OnnxruntimeSession& made, const Shapes& shapes, const Filling& filling) {
  const Ort::AllocatorWithDefaultOptions allocator;
  std::vector<Ort::Value> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto type = made.session->GetInputTypeInfo(i).GetTensorTypeAndShapeInfo().GetElementType();
    inputs.push_back(Ort::Value::CreateTensor(allocator, shapes[i].data(), shapes[i].size(), type));
    const std::size_t bytes = byte_count(static_cast<ElementType>(type), shapes[i]);
    fill(type, {static_cast<std::byte*>(inputs.back().GetTensorMutableRawData()), bytes}, filling);
  }
  const auto outputs = made.session->Run(Ort::RunOptions(), pointers(made.input_names).data(), inputs.data(),
                                         inputs.size(), pointers(made.output_names).data(), made.output_names.size());
  Types types;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!outputs[o].IsTensor()) continue;
    const auto info = outputs[o].GetTensorTypeAndShapeInfo();
    types[made.output_names[o]] = type_of(info.GetConst());
  }
  return types;
}

/// What the session infers. It shows an unknown rank as none, so a scalar is no answer.
Types inferred_types(OnnxruntimeSession& made) {
  Types types;
  for (std::size_t o = 0; o < made.output_names.size(); ++o) {
    const Ort::TypeInfo info = made.session->GetOutputTypeInfo(o);
    if (info.GetONNXType() != ONNX_TYPE_TENSOR) continue;
    const auto tensor = info.GetTensorTypeAndShapeInfo();
    ValueType type{.kind = ValueKind::kTensor, .element = static_cast<ElementType>(tensor.GetElementType())};
    if (const auto extents = tensor.GetShape(); !extents.empty()) {
      type.shape.emplace();
      for (const std::int64_t extent : extents) type.shape->push_back({.extent = std::max<std::int64_t>(extent, -1)});
    }
    types[made.output_names[o]] = std::move(type);
  }
  return types;
}

/// Extents on which two runs agree; no shape when the ranks differ.
void keep_common(ValueType& type, const ValueType& other) {
  if (!type.shape || !other.shape || type.shape->size() != other.shape->size()) {
    type.shape.reset();
    return;
  }
  for (std::size_t d = 0; d < type.shape->size(); ++d)
    if ((*type.shape)[d] != (*other.shape)[d]) (*type.shape)[d] = {};
}

Types types_of_runs(OnnxruntimeSession& made, const Shapes& shapes) {
  Types types = types_of_run(made, shapes, [](std::size_t) { return 0; });
  for (const Filling& filling : {Filling([](std::size_t) { return 1; }),
                                 Filling([](std::size_t i) { return static_cast<std::int64_t>(i % 100); })}) {
    // Numbers like these may be no valid inputs.
    const auto others = guard([&] { return types_of_run(made, shapes, filling); });
    if (!others) continue;
    for (auto& [name, type] : types)
      if (const auto other = others->find(name); other != others->end()) keep_common(type, other->second);
  }
  return types;
}

}  // namespace

Result<Types> onnxruntime_output_types(const std::shared_ptr<Ort::Env>& environment,
                                       const std::vector<std::string>& libraries, const std::string& model) {
  std::string names;
  for (const std::string& library : libraries) names += (names.empty() ? "" : ", ") + library;
  const auto failed = [&](const std::string& message) {
    return fail(ExitCode::kUnsupported, "operators/failed", names, one_line(message),
                "a library with RegisterCustomOps and the model's operators");
  };
  const SessionSettings settings{
      .level = ORT_DISABLE_ALL, .disabled = {}, .threads = 1, .operator_libraries = libraries};
  auto session = make_session(environment, settings, model, {});
  if (!session) return failed(session.error());
  auto types = guard([&] {
    const auto shapes = libraries.empty() ? std::nullopt : static_inputs(*(*session)->session);
    return shapes ? types_of_runs(**session, *shapes) : inferred_types(**session);
  });
  if (!types) return failed(types.error());
  return *std::move(types);
}

}  // namespace collage
