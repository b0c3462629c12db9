// What a handle collage_cancel holds.
#pragma once

#include <stop_token>

#include "api/c/collage.h"

/// Calls that were given it hold the token, so that it may be freed before they return.
struct collage_cancel {  // NOLINT(readability-identifier-naming): a name of the C interface
  mutable std::stop_source source;
};

namespace collage::c_api {

collage_status* cancel_create(collage_cancel** cancel) noexcept;
void cancel_now(const collage_cancel* cancel) noexcept;
void cancel_free(collage_cancel* cancel) noexcept;

}  // namespace collage::c_api
