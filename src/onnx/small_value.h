// A small tensor of numbers as plain vectors: the operands and results of shape arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace collage {

/// At most kMostSmallElements elements of int64, int32, bool (in `ints`), float or double (in `floats`, always rounded
/// to the element type).
struct SmallValue {
  int type = 0;  ///< TensorProto.DataType
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;

  [[nodiscard]] bool is_float() const { return type == pb::TensorProto::FLOAT || type == pb::TensorProto::DOUBLE; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  [[nodiscard]] std::size_t size() const { return is_float() ? floats.size() : ints.size(); }
};

inline constexpr std::size_t kMostSmallElements = 1024;

[[nodiscard]] bool is_small_type(int type);
/// The number of elements; nothing when it is negative or more than kMostSmallElements.
[[nodiscard]] std::optional<std::size_t> small_count(const std::vector<std::int64_t>& dims);
/// The message's value when it is small enough and of a supported type.
[[nodiscard]] std::optional<SmallValue> read_small(const pb::TensorProto& message);
[[nodiscard]] pb::TensorProto write_small(const SmallValue& value, const std::string& name);
[[nodiscard]] SmallValue small_vector(std::vector<std::int64_t> values);
/// An empty value of the same type and the given dimensions, to be filled by take().
[[nodiscard]] SmallValue small_like(const SmallValue& model, std::vector<std::int64_t> dims);
/// Appends element `i` of `from`.
void take(SmallValue& to, const SmallValue& from, std::size_t i);

}  // namespace collage
