// Wraps a kernel whose code may throw: exceptions become the error backend/library-failed.
// Cost: one indirect call a run.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace collage {

/// `name`: the backend's, for errors.
[[nodiscard]] std::unique_ptr<Kernel> guarded(std::unique_ptr<Kernel> kernel, std::string name);

}  // namespace collage
