// Parts of a graph's text form that are also used on their own: in structure keys and in messages.
#pragma once

#include <string>

#include "ir/graph.h"

namespace collage {

/// Tensors of at most this many elements print their contents in a graph's text.
inline constexpr std::int64_t kInlineElements = 16;

/// "i64[3]{1,2,3}", or "f32[64,3]#<content hash>" above `inline_elements` elements. Contents read back exactly: numbers
/// in their shortest exact form, or all bytes in hexadecimal ("f32[1]x0000c07f") where numbers would lose something.
[[nodiscard]] std::string to_text(const Tensor& tensor, std::int64_t inline_elements = kInlineElements);

/// The shortest text that reads back as this number and is not an integer's: "1.0", "1e-05", "inf", "nan".
[[nodiscard]] std::string float_text(double value);
[[nodiscard]] std::string float_text(float value);

/// Domain and operator: "Conv", "com.microsoft::Gelu".
[[nodiscard]] std::string operator_text(const Node& node);

}  // namespace collage
