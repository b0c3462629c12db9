// How a kernel that takes long learns that its run was cancelled (Buffers::cancel), and what it returns then.
// Threads: any.
#pragma once

#include <stop_token>

#include "base/error.h"

namespace collage {

[[nodiscard]] inline bool is_cancelled(const std::stop_token* cancel) {
  return cancel != nullptr && cancel->stop_requested();
}

/// The error of a run that ends early because its caller asked for it.
[[nodiscard]] inline std::unexpected<Error> run_cancelled() {
  return fail(ExitCode::kInterrupted, "session/cancelled", "run", "a request to end it", "no such request");
}

}  // namespace collage
