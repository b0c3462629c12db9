// A plan as a picture in Graphviz's language: `dot -Tsvg`.
// In:  a plan. Out: text: a box for each step, coloured by backend, an arrow for each value from the step that makes it
// to
//       each that reads it, with type and format. The steps of a body are a cluster beside the step of the operator.
// Not here: the page, which needs no other program (api/tune/page/plan_page.h).
// Source: the DOT language, graphviz.org/doc/info/lang.html.
#pragma once

#include <string>

#include "plan/plan.h"

namespace collage {

[[nodiscard]] std::string plan_as_dot(const Plan& plan);

}  // namespace collage
