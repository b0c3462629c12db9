#include "onnx/fold/dense.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "onnx/tensor_proto.h"

namespace collage {
namespace {

std::unexpected<Error> bad(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/bad-tensor", where, std::move(saw), std::move(allowed));
}

/// Where value `i` stands among the dense tensor's elements in row-major order: indices are a number for each value, or
/// one for each of its dimensions.
std::optional<std::int64_t> position(std::span<const std::int64_t> indices, std::size_t i, bool has_coordinates,
                                     const Extents& extents) {
  if (!has_coordinates)
    return indices[i] >= 0 && indices[i] < element_count(extents) ? std::optional(indices[i]) : std::nullopt;
  std::int64_t at = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t index = indices[i * extents.size() + d];
    if (index < 0 || index >= extents[d]) return std::nullopt;
    at = at * extents[d] + index;
  }
  return at;
}

}  // namespace

Result<pb::TensorProto> DenseTensors::dense(const pb::SparseTensorProto& sparse, const std::string& where) {
  COLLAGE_TRY(const Tensor values, to_tensor(sparse.values(), where));
  COLLAGE_TRY(const Tensor indices, to_tensor(sparse.indices(), where));
  pb::TensorProto header;
  *header.mutable_dims() = sparse.dims();
  COLLAGE_TRY(const Extents extents, extents_of(header, where));
  if (indices.type != ElementType::kInt64)
    return bad(where, "indices of type " + std::string(name_of(indices.type)), "i64");
  if (values.type == ElementType::kString || bits_of(values.type) % 8 != 0)
    return fail(ExitCode::kUnsupported, "import/unsupported-type", where,
                "a sparse tensor of " + std::string(name_of(values.type)), "elements of whole bytes");
  const Extents linear = {values.size()};
  const Extents by_dimension = {values.size(), static_cast<std::int64_t>(extents.size())};
  if (values.extents.size() != 1 || (indices.extents != linear && indices.extents != by_dimension))
    return bad(where, "indices " + to_string(indices.value_type()) + " of values " + to_string(values.value_type()),
               "an index or the indices of all dimensions for each value");
  const auto size = checked_byte_count(values.type, extents);
  if (!size || *size > limits_.parse_memory - std::min(bytes_, limits_.parse_memory))
    return over_limit(limits_, &ImportLimits::parse_memory, where,
                      "sparse tensors that are dense in more bytes than that");
  bytes_ += *size;
  const std::size_t width = static_cast<std::size_t>(bits_of(values.type)) / 8;
  std::string bytes(*size, '\0');
  for (std::size_t i = 0; i < static_cast<std::size_t>(values.size()); ++i) {
    const auto at = position(indices.data.as<std::int64_t>(), i, indices.extents.size() == 2, extents);
    if (!at)
      return bad(where, "indices of value " + std::to_string(i) + " outside", "those of an element of the tensor");
    std::memcpy(bytes.data() + static_cast<std::size_t>(*at) * width, values.data.data() + i * width, width);
  }
  header.set_name(sparse.values().name());
  header.set_data_type(sparse.values().data_type());
  header.set_raw_data(std::move(bytes));
  return header;
}

}  // namespace collage
