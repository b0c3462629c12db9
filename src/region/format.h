// A memory format: how the elements of a value are arranged in memory. Formats with equal names are the same.
// In:  a format's name. Out: its kind, the backend that owns it, and which values can have it.
// Cost: a comparison of names.
// Source: memory formats as libraries name them.
#pragma once

#include <compare>
#include <string>

#include "ir/type.h"

namespace collage {

/// "plain" (row-major in ONNX order), "channels_last" (N, spatial, C), or a backend's own "backend:name".
struct Format {
  std::string name = "plain";
  auto operator<=>(const Format&) const = default;

  [[nodiscard]] bool is_plain() const { return name == "plain"; }
  [[nodiscard]] bool is_channels_last() const { return name == "channels_last"; }
  /// The backend that owns a named format; empty for the two common ones.
  [[nodiscard]] std::string owner() const;
};

[[nodiscard]] inline Format plain() { return {"plain"}; }
[[nodiscard]] inline Format channels_last() { return {"channels_last"}; }

/// channels_last exists for rank 3 to 5.
[[nodiscard]] bool can_be_channels_last(const ValueType& type);
/// True when a static tensor has the same bytes in both of the common formats (one channel, or one pixel).
[[nodiscard]] bool same_bytes(const ValueType& type, const Format& a, const Format& b);

/// Permutes a dense tensor between the two common formats, any element size of whole bytes. Reference code for
/// checking and for workers; the fast conversions are backends' kernels.
void convert_common_format(const ValueType& type, const Format& from, const void* in, const Format& to, void* out);

}  // namespace collage
