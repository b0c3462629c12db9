// The names of element types in the Open Inference Protocol: "FP32" for f32, "INT64" for i64.
#pragma once

#include <optional>
#include <string_view>

#include "ir/type.h"

namespace collage {

/// The protocol's name; empty for a type that it does not have, and for strings, which are not served.
[[nodiscard]] std::string_view datatype_of(ElementType type);
/// The type with this name; nothing for an unknown one and for "BYTES".
[[nodiscard]] std::optional<ElementType> element_of_datatype(std::string_view name);

/// All names that are served, for messages.
inline constexpr std::string_view kDatatypes =
    "BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP16, BF16, FP32, FP64";

}  // namespace collage
