#include "onnx/type_proto.h"

#include "onnx/tensor_proto.h"

namespace collage {
namespace {

constexpr int kDeepest = 8;  // sequences of optionals of sequences...; deeper files are not meant seriously

ValueType read_type(const pb::TypeProto& message, int depth) {
  ValueType type;
  if (depth > kDeepest) return type;
  if (message.has_sequence_type()) {
    type.kind = ValueKind::kSequence;
    type.inner.push_back(read_type(message.sequence_type().elem_type(), depth + 1));
  } else if (message.has_optional_type()) {
    type.kind = ValueKind::kOptional;
    type.inner.push_back(read_type(message.optional_type().elem_type(), depth + 1));
  } else if (message.has_map_type()) {
    type.kind = ValueKind::kMap;
    type.element = element_type_from(message.map_type().key_type()).value_or(ElementType::kUndefined);
    type.inner.push_back(read_type(message.map_type().value_type(), depth + 1));
  } else if (message.has_tensor_type()) {
    const auto& tensor = message.tensor_type();
    type.kind = ValueKind::kTensor;
    type.element = element_type_from(tensor.elem_type()).value_or(ElementType::kUndefined);
    if (!tensor.has_shape()) return type;
    type.shape.emplace();
    for (const auto& dim : tensor.shape().dim()) {
      Dim& read = type.shape->emplace_back();
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        read.extent = dim.dim_value();
      else
        read.symbol = dim.dim_param();
    }
  }
  return type;
}

}  // namespace

ValueType to_value_type(const pb::TypeProto& message) { return read_type(message, 0); }

void write_type(const ValueType& type, pb::TypeProto& message) {
  switch (type.kind) {
    case ValueKind::kUnknown:
      return;
    case ValueKind::kSequence:
      write_type(type.inner.front(), *message.mutable_sequence_type()->mutable_elem_type());
      return;
    case ValueKind::kOptional:
      write_type(type.inner.front(), *message.mutable_optional_type()->mutable_elem_type());
      return;
    case ValueKind::kMap:
      message.mutable_map_type()->set_key_type(static_cast<std::int32_t>(type.element));
      write_type(type.inner.front(), *message.mutable_map_type()->mutable_value_type());
      return;
    case ValueKind::kTensor:
      break;
  }
  auto& tensor = *message.mutable_tensor_type();
  if (type.element != ElementType::kUndefined) tensor.set_elem_type(static_cast<std::int32_t>(type.element));
  if (!type.shape) return;
  auto& shape = *tensor.mutable_shape();
  for (const Dim& dim : *type.shape) {
    auto& written = *shape.add_dim();
    if (dim.is_static())
      written.set_dim_value(dim.extent);
    else if (!dim.symbol.empty())
      written.set_dim_param(dim.symbol);
  }
}

void write_value_info(const std::string& name, const ValueType& type, pb::ValueInfoProto& message) {
  message.set_name(name);
  if (type.kind != ValueKind::kUnknown) write_type(type, *message.mutable_type());
}

}  // namespace collage
