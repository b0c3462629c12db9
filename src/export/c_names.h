// Names in the C interface of an exported library.
// In:  names of files, models and values. Out: C identifiers.
#pragma once

#include <string>
#include <string_view>

namespace collage {

/// The name with '_' in place of what no identifier has, lower case; "model" when nothing is left. Functions' names
/// begin with it: one that begins with a digit, or that would make names of the C library, gets "m_" in front.
[[nodiscard]] std::string c_identifier(std::string_view name);

/// Upper case: for macros.
[[nodiscard]] std::string upper_case(std::string_view identifier);

/// Text as a string literal of C, quotes included.
[[nodiscard]] std::string c_literal(std::string_view text);

}  // namespace collage
