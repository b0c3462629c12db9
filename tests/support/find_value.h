// Finds a value of a plan by its name, for tests.
#pragma once

#include <optional>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// Index of the body's value at home with this name and format; nothing when the body has none.
inline std::optional<PlanIndex> find_value(const PlanBody& body, std::string_view name, const Format& format) {
  for (std::size_t i = 0; i < body.values.size(); ++i)
    if (body.values[i].name == name && body.values[i].place == Place{.format = format})
      return static_cast<PlanIndex>(i);
  return std::nullopt;
}

}  // namespace collage
