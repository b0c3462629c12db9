#include "onnx/tensor_proto.h"

#include <cstring>
#include <limits>

namespace collage {
namespace {

std::unexpected<Error> bad_tensor(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/bad-tensor", where, std::move(saw), std::move(allowed));
}

/// Copies a typed field, one entry an element of type T (4-bit and 2-bit types: one entry a packed byte).
template <class T, class Field>
Result<Buffer> from_field(const Field& field, std::size_t bytes, const std::string& where) {
  const std::size_t wanted = bytes / sizeof(T);
  if (static_cast<std::size_t>(field.size()) != wanted)
    return bad_tensor(where, std::to_string(field.size()) + " elements of data",
                      std::to_string(wanted) + " for its dimensions");
  return Buffer::make(bytes, [&](std::span<std::byte> out) {
    for (std::size_t i = 0; i < wanted; ++i) {
      const T value = static_cast<T>(field[static_cast<int>(i)]);
      std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

Result<Buffer> typed_data(const pb::TensorProto& message, ElementType type, std::size_t bytes,
                          const std::string& where) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kComplex64:
      return from_field<float>(message.float_data(), bytes, where);
    case ElementType::kFloat64:
    case ElementType::kComplex128:
      return from_field<double>(message.double_data(), bytes, where);
    case ElementType::kInt64:
      return from_field<std::int64_t>(message.int64_data(), bytes, where);
    case ElementType::kUint64:
      return from_field<std::uint64_t>(message.uint64_data(), bytes, where);
    case ElementType::kUint32:
      return from_field<std::uint32_t>(message.uint64_data(), bytes, where);
    case ElementType::kInt32:
      return from_field<std::int32_t>(message.int32_data(), bytes, where);
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return from_field<std::uint16_t>(message.int32_data(), bytes, where);
    default:
      return from_field<std::uint8_t>(message.int32_data(), bytes, where);
  }
}

/// A bool is one byte holding 0 or 1; a file may hold any byte.
Buffer normalised_bools(const Buffer& raw) {
  return Buffer::make(raw.size(), [&](std::span<std::byte> out) {
    for (std::size_t i = 0; i < raw.size(); ++i) out[i] = raw.data()[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  });
}

}  // namespace

std::optional<ElementType> element_type_from(std::int64_t data_type) {
  if (data_type <= 0 || data_type > static_cast<std::int64_t>(ElementType::kInt2)) return std::nullopt;
  return static_cast<ElementType>(data_type);
}

std::optional<std::size_t> checked_byte_count(ElementType type, const Extents& extents) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t extent : extents) {
    if (extent < 0) return std::nullopt;
    if (extent == 0)
      empty = true;
    else if (elements > kMost / extent)
      return std::nullopt;
    else
      elements *= extent;
  }
  if (bits_of(type) == 0) return std::nullopt;
  return empty ? 0 : byte_count(type, extents);
}

Result<Extents> extents_of(const pb::TensorProto& message, const std::string& where) {
  Extents extents(message.dims().begin(), message.dims().end());
  if (!checked_byte_count(ElementType::kUint8, extents))
    return bad_tensor(where, "dimensions that are negative or overflow", "dimensions of at least 0");
  return extents;
}

Result<Tensor> to_tensor(const pb::TensorProto& message, const std::string& where) {
  const auto type = element_type_from(message.data_type());
  if (!type)
    return fail(ExitCode::kUnsupported, "import/unsupported-type", where,
                "element type number " + std::to_string(message.data_type()), "1 to 26");
  COLLAGE_TRY(Extents extents, extents_of(message, where));
  Tensor tensor{.type = *type, .extents = std::move(extents), .data = {}, .strings = {}};
  if (message.data_location() == pb::TensorProto::EXTERNAL)
    return bad_tensor(where, "external data that was not loaded", "data inside the model");
  if (message.has_segment()) return bad_tensor(where, "a tensor in segments", "a whole tensor");

  if (*type == ElementType::kString) {
    if (message.string_data_size() != tensor.size())
      return bad_tensor(where, std::to_string(message.string_data_size()) + " strings",
                        std::to_string(tensor.size()) + " for its dimensions");
    tensor.strings.assign(message.string_data().begin(), message.string_data().end());
    return tensor;
  }
  const auto bytes = checked_byte_count(*type, tensor.extents);
  if (!bytes) return bad_tensor(where, "dimensions that overflow", "a tensor that fits into memory");
  if (message.has_raw_data()) {
    if (message.raw_data().size() != *bytes)
      return bad_tensor(where, std::to_string(message.raw_data().size()) + " bytes of data",
                        std::to_string(*bytes) + " for " + to_string(tensor.value_type()));
    tensor.data = Buffer::copy_of(std::as_bytes(std::span(message.raw_data())));
  } else {
    COLLAGE_TRY(tensor.data, typed_data(message, *type, *bytes, where));
  }
  if (*type == ElementType::kBool) tensor.data = normalised_bools(tensor.data);
  return tensor;
}

void write_tensor_header(const Tensor& tensor, const std::string& name, pb::TensorProto& message) {
  if (!name.empty()) message.set_name(name);
  message.set_data_type(static_cast<std::int32_t>(tensor.type));
  for (const std::int64_t extent : tensor.extents) message.add_dims(extent);
}

void write_tensor(const Tensor& tensor, const std::string& name, pb::TensorProto& message) {
  write_tensor_header(tensor, name, message);
  if (tensor.type == ElementType::kString) {
    for (const std::string& text : tensor.strings) message.add_string_data(text);
    return;
  }
  message.set_raw_data(tensor.data.data(), tensor.data.size());
}

}  // namespace collage
