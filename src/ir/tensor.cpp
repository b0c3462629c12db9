// Reading a tensor's elements as integers or floats, whatever their width.
// In: dense little-endian bytes, packed below eight bits from the low end. Out: 64-bit numbers.
#include "ir/tensor.h"

#include <cstring>

#include "base/hash.h"
#include "base/narrow_float.h"

namespace collage {
namespace {

template <class T>
T element_at(const Tensor& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.data.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class To, class From>
std::vector<To> widened(const Tensor& tensor) {
  std::vector<To> values(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<To>(element_at<From>(tensor, i));
  return values;
}

/// Elements of 2 or 4 bits, the first in the low bits of its byte.
std::vector<std::int64_t> unpacked(const Tensor& tensor, bool is_signed) {
  const int bits = bits_of(tensor.type);
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto byte = static_cast<unsigned>(tensor.data.data()[i / per_byte]);
    const unsigned shift = static_cast<unsigned>(i % per_byte) * static_cast<unsigned>(bits);
    const std::int64_t raw = (byte >> shift) & ((1U << bits) - 1U);
    const bool negative = is_signed && (raw >> (bits - 1)) != 0;
    values[i] = negative ? raw - (std::int64_t{1} << bits) : raw;
  }
  return values;
}

std::optional<std::vector<std::int64_t>> widened_u64(const Tensor& tensor) {
  auto values = widened<std::int64_t, std::uint64_t>(tensor);
  for (const std::int64_t value : values)
    if (value < 0) return std::nullopt;
  return values;
}

template <class Decode>
std::vector<double> decoded16(const Tensor& tensor, Decode decode) {
  std::vector<double> values(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = decode(element_at<std::uint16_t>(tensor, i));
  return values;
}

/// Guards every reader here against a tensor whose bytes are fewer than its extents say.
bool has_all_bytes(const Tensor& tensor) {
  return bits_of(tensor.type) > 0 && tensor.data.size() == byte_count(tensor.type, tensor.extents);
}

}  // namespace

std::optional<std::vector<std::int64_t>> integers_of(const Tensor& tensor) {
  if (!has_all_bytes(tensor)) return std::nullopt;
  switch (tensor.type) {
    case ElementType::kBool:
    case ElementType::kUint8:
      return widened<std::int64_t, std::uint8_t>(tensor);
    case ElementType::kInt8:
      return widened<std::int64_t, std::int8_t>(tensor);
    case ElementType::kUint16:
      return widened<std::int64_t, std::uint16_t>(tensor);
    case ElementType::kInt16:
      return widened<std::int64_t, std::int16_t>(tensor);
    case ElementType::kUint32:
      return widened<std::int64_t, std::uint32_t>(tensor);
    case ElementType::kInt32:
      return widened<std::int64_t, std::int32_t>(tensor);
    case ElementType::kInt64:
      return widened<std::int64_t, std::int64_t>(tensor);
    case ElementType::kUint64:
      return widened_u64(tensor);
    case ElementType::kUint2:
    case ElementType::kUint4:
      return unpacked(tensor, false);
    case ElementType::kInt2:
    case ElementType::kInt4:
      return unpacked(tensor, true);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<double>> floats_of(const Tensor& tensor) {
  if (!has_all_bytes(tensor)) return std::nullopt;
  switch (tensor.type) {
    case ElementType::kFloat32:
      return widened<double, float>(tensor);
    case ElementType::kFloat64:
      return widened<double, double>(tensor);
    case ElementType::kFloat16:
      return decoded16(tensor, from_half);
    case ElementType::kBfloat16:
      return decoded16(tensor, from_bfloat);
    default:
      return std::nullopt;
  }
}

std::string content_hash(const Tensor& tensor) {
  std::string head = to_string(tensor.value_type());
  for (const std::string& text : tensor.strings) head += '\n' + std::to_string(text.size()) + ':' + text;
  head += '\n' + hash_hex(tensor.data.data(), tensor.data.size());
  for (const Tensor& item : tensor.items) head += '\n' + content_hash(item);
  return hash_hex(head).substr(0, 16);
}

}  // namespace collage
