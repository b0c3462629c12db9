// Cuts long texts for messages and tables.
#pragma once

#include <string>

namespace collage {

/// The text, or its beginning with "..." behind it: at most `most` bytes in all, `most` being 3 or more. A character of
/// UTF-8 is never cut.
[[nodiscard]] inline std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

}  // namespace collage
