// Puts facts into a page, so that nothing in them can leave their place.
// In:  the files of a page, facts. Out: HTML.
#pragma once

#include <string>

#include "api/tune/page/page_files.h"
#include "base/json_numbers.h"

namespace collage {

[[nodiscard]] std::string filled_page(const PageFiles& files, const nlohmann::ordered_json& facts);

}  // namespace collage
