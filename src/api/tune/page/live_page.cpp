#include "api/tune/page/live_page.h"

#include "api/tune/page/fill_page.h"

namespace collage {

std::string live_page() { return filled_page(live_page_files(), nlohmann::ordered_json::object()); }

}  // namespace collage
