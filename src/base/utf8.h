// Tells whether bytes are text in UTF-8.
#pragma once

#include <string_view>

namespace collage {

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace collage
