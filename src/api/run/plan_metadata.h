// What a program may want to know of a plan before it runs it: model, shapes, accuracy, backends, how many steps.
// In: the plans of a file. Out: JSON of schema collage.plan-metadata/1 (docs/schemas).
#pragma once

#include <string>

namespace collage {

struct PlanCases;

/// One object; its keys may grow, none changes its meaning.
[[nodiscard]] std::string metadata_json(const PlanCases& cases);

}  // namespace collage
