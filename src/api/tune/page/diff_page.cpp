#include "api/tune/page/diff_page.h"

#include "api/tune/page/fill_page.h"

namespace collage {

std::string diff_page(const PlanDiff& diff) {
  // The page shows what tools read.
  return filled_page(diff_page_files(), nlohmann::ordered_json::parse(to_json(diff)));
}

}  // namespace collage
