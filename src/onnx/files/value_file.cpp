#include "onnx/files/value_file.h"

#include <onnx/onnx-data.pb.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/file.h"
#include "ir/value_json.h"
#include "onnx/files/model_file.h"
#include "onnx/files/tensor_file.h"
#include "onnx/tensor_proto.h"

namespace collage {
namespace {

constexpr std::string_view kValueSchema = "collage.value/1";
constexpr std::size_t kMostJsonBytes = std::size_t{256} << 20;
/// Of sequences of optionals of sequences; as types in models.
constexpr int kDeepestValue = 8;

std::unexpected<Error> malformed(const std::string& path, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "tensor/malformed", path, std::move(saw), std::move(allowed));
}

/// Error codes of files, not of models.
template <class T>
Result<T> of_file(Result<T> made) {
  if (made) return made;
  Error error = std::move(made).error();
  if (error.code == "import/unsupported-type")
    error.code = "tensor/unsupported-type";
  else if (error.code.starts_with("import/"))
    error.code = "tensor/malformed";
  error.exit = ExitCode::kBadInput;
  return std::unexpected(std::move(error));
}

Result<Tensor> value_of(const pb::SequenceProto& message, const ValueType& type, const std::string& where, int depth);
Result<Tensor> value_of(const pb::OptionalProto& message, const ValueType& type, const std::string& where, int depth);
Result<Tensor> value_of(const pb::MapProto& message, const ValueType& type, const std::string& where, int depth);

std::string item(const std::string& where, int i) { return where + ", item " + std::to_string(i); }

Result<Tensor> value_of(const pb::SequenceProto& message, const ValueType& type, const std::string& where, int depth) {
  if (depth > kDeepestValue) return malformed(where, "deeper nesting", std::to_string(kDeepestValue) + " levels");
  const ValueType& inner = type.inner.front();
  Tensor made = make_container(type, {});
  const auto add_all = [&](const auto& items, auto&& read) -> Result<Tensor> {
    for (int i = 0; i < items.size(); ++i) {
      COLLAGE_TRY(made.items.emplace_back(), read(items.Get(i), item(where, i)));
    }
    return std::move(made);
  };
  switch (inner.kind) {
    case ValueKind::kSequence:
      return add_all(message.sequence_values(),
                     [&](const auto& one, const std::string& at) { return value_of(one, inner, at, depth + 1); });
    case ValueKind::kOptional:
      return add_all(message.optional_values(),
                     [&](const auto& one, const std::string& at) { return value_of(one, inner, at, depth + 1); });
    case ValueKind::kMap:
      return add_all(message.map_values(),
                     [&](const auto& one, const std::string& at) { return value_of(one, inner, at, depth + 1); });
    default:
      return add_all(message.tensor_values(),
                     [&](const auto& one, const std::string& at) { return of_file(to_tensor(one, at)); });
  }
}

Result<Tensor> value_of(const pb::OptionalProto& message, const ValueType& type, const std::string& where, int depth) {
  if (depth > kDeepestValue) return malformed(where, "deeper nesting", std::to_string(kDeepestValue) + " levels");
  const ValueType& inner = type.inner.front();
  Tensor made = make_container(type, {});
  const auto put = [&](Result<Tensor> value) -> Result<Tensor> {
    if (!value) return value;
    made.items.push_back(*std::move(value));
    return std::move(made);
  };
  if (inner.kind == ValueKind::kTensor && message.has_tensor_value())
    return put(of_file(to_tensor(message.tensor_value(), where)));
  if (inner.kind == ValueKind::kSequence && message.has_sequence_value())
    return put(value_of(message.sequence_value(), inner, where, depth + 1));
  if (inner.kind == ValueKind::kMap && message.has_map_value())
    return put(value_of(message.map_value(), inner, where, depth + 1));
  if (inner.kind == ValueKind::kOptional && message.has_optional_value())
    return put(value_of(message.optional_value(), inner, where, depth + 1));
  if (message.has_tensor_value() || message.has_sequence_value() || message.has_map_value() ||
      message.has_optional_value())
    return malformed(where, "another kind of value", to_string(type));
  return made;
}

/// The tensors of a map's values, each a scalar, as one.
Result<Tensor> joined(const pb::SequenceProto& values, ElementType element, const std::string& where) {
  Tensor made{.type = element, .extents = {values.tensor_values_size()}, .strings = {}};
  std::string bytes;
  for (int i = 0; i < values.tensor_values_size(); ++i) {
    COLLAGE_TRY(const Tensor one, of_file(to_tensor(values.tensor_values(i), item(where, i))));
    if (one.type != element || one.size() != 1)
      return malformed(item(where, i), to_string(one.value_type()), "one element of " + std::string(name_of(element)));
    bytes += one.data.text();
    made.strings.insert(made.strings.end(), one.strings.begin(), one.strings.end());
  }
  made.data = Buffer::copy_of(std::as_bytes(std::span(bytes)));
  return made;
}

Result<Tensor> value_of(const pb::MapProto& message, const ValueType& type, const std::string& where, int depth) {
  if (depth > kDeepestValue) return malformed(where, "deeper nesting", std::to_string(kDeepestValue) + " levels");
  const bool is_text = type.element == ElementType::kString;
  if (!is_text && type.element != ElementType::kInt64)
    return fail(ExitCode::kBadInput, "tensor/unsupported-type", where, to_string(type), "keys of text or i64");
  const int count = is_text ? message.string_keys_size() : message.keys_size();
  Tensor keys = make_tensor<std::int64_t>(ElementType::kInt64, {count}, {message.keys().begin(), message.keys().end()});
  if (is_text)
    keys = {.type = ElementType::kString,
            .extents = {count},
            .strings = {message.string_keys().begin(), message.string_keys().end()}};
  COLLAGE_TRY(Tensor values, joined(message.values(), type.inner.front().element, where));
  if (values.extents.front() != count)
    return malformed(where, std::to_string(values.extents.front()) + " values", std::to_string(count));
  return make_container(type, {std::move(keys), std::move(values)});
}

template <class Message>
Result<Tensor> read_message(const std::string& path, const ValueType& type) {
  auto file = read_model_file(path);
  // The message without anything is an empty sequence, or an optional without a value.
  if (!file && file.error().code == "import/empty") return value_of(Message(), type, path, 0);
  if (!file) {
    Error error = std::move(file).error();
    error.code = error.code == "import/not-found" ? "tensor/not-found" : "tensor/cannot-read";
    error.allowed = "a serialised value of type " + to_string(type);
    return std::unexpected(std::move(error));
  }
  Message message;
  if (!message.ParseFromString(file->bytes)) return malformed(path, "bytes that are no such message", to_string(type));
  return value_of(message, type, path, 0);
}

Result<Tensor> read_pb(const std::string& path, const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kSequence:
      return read_message<pb::SequenceProto>(path, type);
    case ValueKind::kOptional:
      return read_message<pb::OptionalProto>(path, type);
    case ValueKind::kMap:
      return read_message<pb::MapProto>(path, type);
    default:
      return read_tensor_pb(path);
  }
}

Result<Tensor> read_json_value(const std::string& path, const ValueType& type) {
  auto file = Buffer::map_file(path);
  if (!file) {
    const bool is_there = std::ifstream(path).good();
    return fail(ExitCode::kIo, is_there ? "tensor/cannot-read" : "tensor/not-found", path, file.error().saw,
                "a value in JSON");
  }
  if (file->size() > kMostJsonBytes)
    return fail(ExitCode::kLimit, "tensor/too-large", path, std::to_string(file->size()) + " bytes", "256 MiB");
  // The file may be shortened while it is mapped.
  COLLAGE_TRY(const Buffer copy, read_file(path));
  auto json = parse_json(copy.text(), path);
  if (!json) return malformed(path, json.error().saw, "a value in JSON");
  if (!json->is_object() || !json->contains("schema") || json->at("schema") != kValueSchema)
    return value_from_json(*json, type, path);
  if (!json->contains("value")) return malformed(path, "no 'value'", "a value in JSON");
  return value_from_json(json->at("value"), type, path);
}

void write_message(const Tensor& value, pb::SequenceProto& message);
void write_message(const Tensor& value, pb::OptionalProto& message);
void write_message(const Tensor& value, pb::MapProto& message);

void write_message(const Tensor& value, pb::SequenceProto& message) {
  const ValueType& inner = value.container->inner.front();
  switch (inner.kind) {
    case ValueKind::kSequence:
      message.set_elem_type(pb::SequenceProto::SEQUENCE);
      for (const Tensor& one : value.items) write_message(one, *message.add_sequence_values());
      return;
    case ValueKind::kOptional:
      message.set_elem_type(pb::SequenceProto::OPTIONAL);
      for (const Tensor& one : value.items) write_message(one, *message.add_optional_values());
      return;
    case ValueKind::kMap:
      message.set_elem_type(pb::SequenceProto::MAP);
      for (const Tensor& one : value.items) write_message(one, *message.add_map_values());
      return;
    default:
      message.set_elem_type(pb::SequenceProto::TENSOR);
      for (const Tensor& one : value.items) write_tensor(one, "", *message.add_tensor_values());
  }
}

void write_message(const Tensor& value, pb::OptionalProto& message) {
  const ValueType& inner = value.container->inner.front();
  const bool has_value = !value.items.empty();
  switch (inner.kind) {
    case ValueKind::kSequence:
      message.set_elem_type(pb::OptionalProto::SEQUENCE);
      if (has_value) write_message(value.items.front(), *message.mutable_sequence_value());
      return;
    case ValueKind::kMap:
      message.set_elem_type(pb::OptionalProto::MAP);
      if (has_value) write_message(value.items.front(), *message.mutable_map_value());
      return;
    case ValueKind::kOptional:
      message.set_elem_type(pb::OptionalProto::OPTIONAL);
      if (has_value) write_message(value.items.front(), *message.mutable_optional_value());
      return;
    default:
      message.set_elem_type(pb::OptionalProto::TENSOR);
      if (has_value) write_tensor(value.items.front(), "", *message.mutable_tensor_value());
  }
}

/// Element `i` as a scalar.
Tensor scalar_of(const Tensor& tensor, std::size_t i) {
  Tensor made{.type = tensor.type, .extents = {}, .strings = {}};
  if (tensor.type == ElementType::kString) {
    made.strings = {tensor.strings[i]};
    return made;
  }
  const std::size_t bytes = byte_count(tensor.type, {1});
  made.data = tensor.data.slice(i * bytes, bytes);
  return made;
}

void write_message(const Tensor& value, pb::MapProto& message) {
  message.set_key_type(static_cast<std::int32_t>(value.container->element));
  if (value.items.size() != 2) return;
  const Tensor& keys = value.items[0];
  for (const std::string& key : keys.strings) message.add_string_keys(key);
  if (const auto numbers = integers_of(keys))
    for (const std::int64_t key : *numbers) message.add_keys(key);
  auto& values = *message.mutable_values();
  values.set_elem_type(pb::SequenceProto::TENSOR);
  for (std::int64_t i = 0; i < value.items[1].size(); ++i)
    write_tensor(scalar_of(value.items[1], static_cast<std::size_t>(i)), "", *values.add_tensor_values());
}

std::string message_bytes(const Tensor& value) {
  const auto bytes_of = [&](auto message) {
    write_message(value, message);
    return message.SerializeAsString();
  };
  switch (value.container->kind) {
    case ValueKind::kSequence:
      return bytes_of(pb::SequenceProto());
    case ValueKind::kOptional:
      return bytes_of(pb::OptionalProto());
    default:
      return bytes_of(pb::MapProto());
  }
}

Result<void> write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())) && file.flush()) return {};
  return fail(ExitCode::kIo, "tensor/cannot-write", path, std::strerror(errno), "a file that can be written");
}

}  // namespace

Result<Tensor> read_value(const std::string& path, const ValueType& type) {
  if (path.ends_with(".json")) return read_json_value(path, type);
  if (path.ends_with(".pb")) return read_pb(path, type);
  return read_npy(path);
}

std::string best_ending(const Tensor& value) {
  const ValueType type = value.value_type();
  if (!type.is_held()) return "npy";
  return value_to_json(value, "") ? "json" : "pb";
}

Result<void> write_value(const std::string& path, const Tensor& value) {
  if (path.ends_with(".json")) {
    COLLAGE_TRY(Json json, value_to_json(value, path));
    const nlohmann::ordered_json file = {
        {"schema", kValueSchema}, {"type", to_string(value.value_type())}, {"value", std::move(json)}};
    return write_bytes(path, file.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  }
  if (path.ends_with(".pb"))
    return value.container ? write_bytes(path, message_bytes(value)) : write_tensor_pb(path, value);
  if (value.container)
    return fail(ExitCode::kBadInput, "tensor/unsupported-type", path, to_string(value.value_type()),
                "tensors in .npy files; .json or .pb for others");
  return write_npy(path, value);
}

}  // namespace collage
