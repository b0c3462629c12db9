// Tensors of strings as the protocol carries them, datatype BYTES: each string behind its length in 4 bytes, little end
// first, row-major. So they lie in requests, in the queue and in answers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/type.h"

namespace collage {

/// Precondition: the string has fewer than 2^32 bytes.
void append_text(std::string& bytes, std::string_view text);

/// The strings of a tensor with so many elements. Errors (bad input): serve/wrong-size when the lengths do not add up,
/// input/not-utf8.
[[nodiscard]] Result<std::vector<std::string>> texts_in(std::span<const std::byte> bytes, const Extents& extents,
                                                        const std::string& where);

}  // namespace collage
