// A memory format: how the elements of a value are arranged in memory, and in which element type they are stored.
// Formats with equal names are the same.
// In:  a format's name. Out: its kind, the backend that owns it, and which values can have it.
// Cost: a comparison of names.
// Source: memory formats as libraries name them.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>

#include "ir/type.h"

namespace collage {

/// "plain" (row-major in ONNX order), "channels_last" (N, spatial, C), or a backend's own "backend:name". Behind each
/// may stand ".bf16" or ".f16": a narrow format, which stores a float32 value in elements of 16 bits.
struct Format {
  std::string name = "plain";
  auto operator<=>(const Format&) const = default;

  /// Of the common formats with the value's own element type only.
  [[nodiscard]] bool is_plain() const { return name == "plain"; }
  [[nodiscard]] bool is_channels_last() const { return name == "channels_last"; }
  /// The element type of a narrow format; nothing when a value keeps its own.
  [[nodiscard]] std::optional<ElementType> narrow() const;
  /// The same order of elements, each of the value's own type.
  [[nodiscard]] Format full() const;
  /// The backend that owns a named format; empty for the two common ones.
  [[nodiscard]] std::string owner() const;
};

[[nodiscard]] inline Format plain() { return {"plain"}; }
[[nodiscard]] inline Format channels_last() { return {"channels_last"}; }
/// The format with its elements stored as bfloat16 or float16.
[[nodiscard]] Format stored_as(const Format& format, ElementType element);

/// Plain or channels_last, of full or of narrow elements.
[[nodiscard]] bool is_common(const Format& format);
/// channels_last exists for rank 3 to 5.
[[nodiscard]] bool can_be_channels_last(const ValueType& type);
/// Whether a value of the type may have a common format: narrow ones are for float32 values.
[[nodiscard]] bool can_have_common_format(const ValueType& type, const Format& format);
/// The element type in which a value of the type is stored.
[[nodiscard]] ElementType stored_element(const ValueType& type, const Format& format);
/// Bytes of a static tensor in a common format; nothing for named formats and types that cannot have the format.
[[nodiscard]] std::optional<std::size_t> common_format_bytes(const ValueType& type, const Format& format);
/// True when a static tensor has the same bytes in both of two common formats (one channel, or one pixel).
[[nodiscard]] bool same_bytes(const ValueType& type, const Format& a, const Format& b);

/// Brings a dense tensor from one common format to another, any element size of whole bytes; what gets narrower is
/// rounded to the nearest, ties to even. Reference code for checking and for workers; the fast conversions are
/// backends' kernels.
void convert_common_format(const ValueType& type, const Format& from, const void* in, const Format& to, void* out);

}  // namespace collage
