// The page that shows a tune while it goes on (serve/live_server.h). It may ask the program that serves it, and nobody
// else. Out: HTML.
#pragma once

#include <string>

namespace collage {

[[nodiscard]] std::string live_page();

}  // namespace collage
