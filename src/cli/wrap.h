// Wraps text to the width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace collage::cli {

inline constexpr std::size_t kColumns = 80;

/// Breaks at blanks, so that no line is longer than `width` unless a word is; lines after the first begin with `indent`
/// blanks, which count.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// Breaks lines of more than `columns` characters at blanks, or after a comma where there is no blank. Continuation
/// lines are indented like the first one, and by two more. Lines that fit are unchanged; words longer than a line stay
/// whole.
[[nodiscard]] std::string with_wrapped_lines(std::string_view report, std::size_t columns);

/// Replaces characters that move the cursor by blanks: messages of libraries contain line breaks, names in models any
/// character.
[[nodiscard]] std::string on_one_line(std::string text);

}  // namespace collage::cli
