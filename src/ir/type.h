// The type of a value: element type, shape, and ONNX's sequence, optional and map types. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collage {

/// ONNX's element types under ONNX's own numbers (TensorProto.DataType).
enum class ElementType : std::uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3Fn = 17,
  kFloat8E4M3Fnuz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2Fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26
};

/// Short name used in text forms and messages: f32, i64, bool, str...
[[nodiscard]] std::string_view name_of(ElementType type);
[[nodiscard]] std::optional<ElementType> element_type_of(std::string_view name);
/// Bits one element takes; 0 for strings and undefined.
[[nodiscard]] int bits_of(ElementType type);
[[nodiscard]] bool is_float(ElementType type);
[[nodiscard]] bool is_integer(ElementType type);
/// f16 or bf16.
[[nodiscard]] bool is_16bit_float(ElementType type);

/// One dimension: a known extent, a symbol (equal names are equal extents), or unknown (both empty).
struct Dim {
  std::int64_t extent = -1;
  std::string symbol;
  /// The extent in the recorded run, of a dimension that is not static; -1: none. Costs and the choice of
  /// variants go by it; it is no part of the type.
  std::int64_t recorded = -1;

  [[nodiscard]] bool is_static() const { return extent >= 0; }
  bool operator==(const Dim& other) const { return extent == other.extent && symbol == other.symbol; }
};

using Extents = std::vector<std::int64_t>;
using Shape = std::vector<Dim>;

enum class ValueKind : std::uint8_t { kTensor, kSequence, kOptional, kUnknown, kMap };

/// The type of a value. A tensor has an element type and, when the rank is known, a shape.
struct ValueType {
  ValueKind kind = ValueKind::kUnknown;
  ElementType element = ElementType::kUndefined;  ///< of a map: of its keys
  std::optional<Shape> shape;
  std::vector<ValueType> inner;  ///< the one contained type of a sequence, an optional, or a map's values

  [[nodiscard]] static ValueType tensor(ElementType element, const Extents& extents);

  /// A tensor whose every extent is known and whose elements have a fixed size.
  [[nodiscard]] bool is_static() const;
  /// A tensor of known rank whose elements have a fixed size, with some extent that is not known.
  [[nodiscard]] bool is_open() const;
  /// Strings, a sequence, an optional or a map: no bytes in a buffer, but a HeldValue (backend/held_value.h).
  [[nodiscard]] bool is_held() const;
  /// Extents of a static tensor.
  [[nodiscard]] Extents extents() const;
  /// Extents of a static tensor; of an open one those of the recorded run, nothing when there are none.
  [[nodiscard]] std::optional<Extents> known_extents() const;
  bool operator==(const ValueType&) const = default;
};

[[nodiscard]] std::int64_t element_count(const Extents& extents);
/// Bytes of a dense row-major tensor; 4-bit types are packed two to a byte.
[[nodiscard]] std::size_t byte_count(ElementType type, const Extents& extents);

/// "f32[1,3,224,224]", "i64[N,?]", "f32[*]" (rank unknown), "seq(f32[2])", "opt(...)", "map(i64,f32[])", "?".
[[nodiscard]] std::string to_string(const ValueType& type);
/// Reads the form that to_string writes; nothing when it is malformed.
[[nodiscard]] std::optional<ValueType> parse_value_type(std::string_view text);

}  // namespace collage
