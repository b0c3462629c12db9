// Words on lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace collage::cli {

inline constexpr std::size_t kColumns = 80;

/// Breaks at blanks, so that no line is longer than `width` unless a word is; lines after the first begin with `indent`
/// blanks, which count.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

}  // namespace collage::cli
