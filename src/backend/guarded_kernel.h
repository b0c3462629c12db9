// A kernel of code that may throw, made one that does not.
// In: a kernel. Out: the same; exceptions are errors backend/library-failed, a missing call is one too.
// Cost: one indirect call a run.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace collage {

/// `name`: the backend's, for errors.
[[nodiscard]] std::unique_ptr<Kernel> guarded(std::unique_ptr<Kernel> kernel, std::string name);

}  // namespace collage
