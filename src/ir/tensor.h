// A value with its data: a constant of a graph, an input or an output. Row-major, little-endian, immutable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "ir/type.h"

namespace collage {

/// A tensor; or a sequence, an optional or a map of such values, which says so in `container`.
struct Tensor {
  ElementType type = ElementType::kUndefined;  ///< this and the next three: of a tensor
  Extents extents;
  Buffer data;                         ///< empty for strings
  std::vector<std::string> strings;    ///< the elements of a string tensor
  std::optional<ValueType> container;  ///< the type of a sequence, an optional or a map; nothing for a tensor
  /// Of a sequence all, in order; of an optional one or none; of a map its keys and its values, two tensors of as many
  /// elements.
  std::vector<Tensor> items;

  [[nodiscard]] ValueType value_type() const { return container ? *container : ValueType::tensor(type, extents); }
  [[nodiscard]] std::int64_t size() const { return element_count(extents); }
  bool operator==(const Tensor&) const = default;
};

/// A tensor from values given in row-major order; T must be the C++ type of `type`.
template <class T>
[[nodiscard]] Tensor make_tensor(ElementType type, Extents extents, const std::vector<T>& values) {
  return Tensor{.type = type,
                .extents = std::move(extents),
                .data = Buffer::copy_of(std::as_bytes(std::span(values))),
                .strings = {}};
}

/// The elements of an integer (or bool) tensor widened to 64 bits; nothing for other types, and for an unsigned
/// element above the largest signed one.
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(const Tensor& tensor);
/// The elements of a float (f16, bf16, f32, f64) tensor widened to double; nothing for other types.
[[nodiscard]] std::optional<std::vector<double>> floats_of(const Tensor& tensor);

/// A dense tensor over bytes that somebody else owns and keeps while it is used.
[[nodiscard]] inline Tensor tensor_over(ElementType type, Extents extents, const void* data) {
  const std::size_t size = byte_count(type, extents);
  return {.type = type,
          .extents = std::move(extents),
          .data = Buffer(nullptr, {static_cast<const std::byte*>(data), size})};
}

/// A sequence, an optional or a map of this type with these contents.
[[nodiscard]] inline Tensor make_container(ValueType type, std::vector<Tensor> items) {
  return Tensor{.container = std::move(type), .items = std::move(items)};
}

/// A hash of type, extents and contents as 16 hexadecimal digits; text forms show it for a large constant.
[[nodiscard]] std::string content_hash(const Tensor& tensor);

}  // namespace collage
