// The error of a backend that cannot be used as it is. Internal to src/backend.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace collage {

/// Error backend/unusable.
[[nodiscard]] inline std::unexpected<Error> unusable(std::string where, std::string saw, std::string allowed = {}) {
  return fail(ExitCode::kUnsupported, "backend/unusable", std::move(where), std::move(saw), std::move(allowed));
}

}  // namespace collage
