// The error of a plan that breaks a rule. Internal to src/plan.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace collage {

/// Error plan/damaged.
[[nodiscard]] inline std::unexpected<Error> damaged(std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "plan/damaged", std::move(where), std::move(saw), std::move(allowed));
}

}  // namespace collage
