// Names in the text form of types and graphs: written as they are when they are plain words, else quoted with escapes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace collage {

/// True for letters, digits and any of "_./-", the characters of a bare name.
[[nodiscard]] bool is_name_char(char c);
/// The value of a lower-case hexadecimal digit; -1 for other characters.
[[nodiscard]] int hex_value(char c);

/// "..." with \" \\ \n \t and \xNN; every byte string reads back exactly, and the result is printable ASCII.
[[nodiscard]] std::string quoted(std::string_view text);
/// Reads a quoted string from the front of `text` and removes it; nothing when it is malformed.
[[nodiscard]] std::optional<std::string> read_quoted(std::string_view& text);

/// The name bare when it is a non-empty run of name characters, else quoted.
[[nodiscard]] std::string name_text(std::string_view name);
/// Like name_text, but a bare symbol starts with a letter or '_', so that it cannot be read as a number.
[[nodiscard]] std::string symbol_text(std::string_view name);
/// Reads a bare or quoted symbol from the front of `text` and removes it.
[[nodiscard]] std::optional<std::string> read_symbol(std::string_view& text);

/// Reads a type from the front of `text` and removes it; nothing when it is malformed.
[[nodiscard]] std::optional<ValueType> read_value_type(std::string_view& text);

}  // namespace collage
