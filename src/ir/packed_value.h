// Strings, sequences, optionals and maps as bytes, for a reader that is of the same build as the writer.
// In:  a value. Out: bytes; and from these an equal value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/tensor.h"

namespace collage {

/// Precondition: fewer than 2^32 strings and items, and fewer bytes in each.
[[nodiscard]] std::string pack_value(const Tensor& value);
/// Nothing where the bytes are not those of one value; nesting is bounded. Copies what it reads.
[[nodiscard]] std::optional<Tensor> unpack_value(std::string_view bytes);

}  // namespace collage
