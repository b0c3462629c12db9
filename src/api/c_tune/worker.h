// A process that serves a tuner, for programs that are workers of their own (collage_tune.h says what it does).
#pragma once

#include <cstdint>

#include "api/c_tune/collage_tune.h"

namespace collage::c_api {

std::int32_t serve_jobs(std::int32_t socket, collage_texts modules) noexcept;

}  // namespace collage::c_api
