// The values that a fact can have: what strategies rely on, and what is checked when facts are read.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compiler/selection/condition.h"

namespace collage::native {

/// The interval of a fact's values, both ends included.
struct Domain {
  std::string_view fact;
  std::int64_t low;
  std::int64_t high;
};

/// "flag = 2": the first fact whose value is outside its domain.
[[nodiscard]] std::optional<std::string> misfit_in(const Facts& facts, std::span<const Domain> domains);

}  // namespace collage::native
