#include "onnx/small_value.h"

#include <cstring>

#include "onnx/tensor_proto.h"

namespace collage {

bool is_small_type(int type) {
  return type == pb::TensorProto::INT64 || type == pb::TensorProto::INT32 || type == pb::TensorProto::BOOL ||
         type == pb::TensorProto::FLOAT || type == pb::TensorProto::DOUBLE;
}

std::optional<std::size_t> small_count(const std::vector<std::int64_t>& dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || dim > static_cast<std::int64_t>(kMostSmallElements)) return std::nullopt;
    count *= static_cast<std::size_t>(dim);
    if (count > kMostSmallElements) return std::nullopt;
  }
  return count;
}

std::optional<SmallValue> read_small(const pb::TensorProto& message) {
  if (!is_small_type(message.data_type())) return std::nullopt;
  SmallValue value{
      .type = message.data_type(), .dims = {message.dims().begin(), message.dims().end()}, .ints = {}, .floats = {}};
  if (!small_count(value.dims)) return std::nullopt;
  const auto tensor = to_tensor(message, message.name());
  if (!tensor) return std::nullopt;
  if (auto ints = integers_of(*tensor))
    value.ints = std::move(*ints);
  else if (auto floats = floats_of(*tensor))
    value.floats = std::move(*floats);
  else
    return std::nullopt;
  return value;
}

pb::TensorProto write_small(const SmallValue& value, const std::string& name) {
  pb::TensorProto message;
  message.set_name(name);
  message.set_data_type(value.type);
  for (const std::int64_t dim : value.dims) message.add_dims(dim);
  for (const std::int64_t element : value.ints) {
    if (value.type == pb::TensorProto::INT64)
      message.add_int64_data(element);
    else
      message.add_int32_data(static_cast<std::int32_t>(element));
  }
  for (const double element : value.floats) {
    if (value.type == pb::TensorProto::FLOAT)
      message.add_float_data(static_cast<float>(element));
    else
      message.add_double_data(element);
  }
  return message;
}

SmallValue small_vector(std::vector<std::int64_t> values) {
  return {.type = pb::TensorProto::INT64,
          .dims = {static_cast<std::int64_t>(values.size())},
          .ints = std::move(values),
          .floats = {}};
}

SmallValue small_like(const SmallValue& model, std::vector<std::int64_t> dims) {
  return {.type = model.type, .dims = std::move(dims), .ints = {}, .floats = {}};
}

void take(SmallValue& to, const SmallValue& from, std::size_t i) {
  if (from.is_float())
    to.floats.push_back(from.floats[i]);
  else
    to.ints.push_back(from.ints[i]);
}

}  // namespace collage
