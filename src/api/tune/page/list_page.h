// Many plans as one page: a table to sort and search. One file of HTML that needs nothing else, as that of a plan
// (plan_page.h).
// In:  a list of plans. Out: HTML.
#pragma once

#include <string>

#include "api/tune/plan_list.h"

namespace collage {

[[nodiscard]] std::string list_page(const PlanList& list);

}  // namespace collage
