// How long a backend takes to make a kernel.
#pragma once

#include <cstdint>
#include <string>

#include "backend/registry.h"

namespace collage {

/// How a backend makes kernels: within milliseconds, or not.
enum class Making : std::uint8_t { kQuick, kCompiler, kEngine };

/// Of a backend that is not in the registry: kEngine.
[[nodiscard]] Making making_of(Registry& registry, const std::string& backend);

}  // namespace collage
