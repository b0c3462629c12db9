#include "api/tune/page/list_page.h"

#include "api/tune/page/fill_page.h"

namespace collage {

std::string list_page(const PlanList& list) {
  // The page shows what tools read.
  return filled_page(list_page_files(), nlohmann::ordered_json::parse(to_json(list)));
}

}  // namespace collage
