// The names of element types in the Open Inference Protocol: "FP32" for f32, "INT64" for i64.
#pragma once

#include <string_view>

#include "ir/type.h"

namespace collage {

/// The protocol's name, BYTES for strings; empty for a type that it does not have.
[[nodiscard]] std::string_view datatype_of(ElementType type);

/// All names that are served, for messages.
inline constexpr std::string_view kDatatypes =
    "BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP16, BF16, FP32, FP64, BYTES";

}  // namespace collage
