// prepare_constants() for one kernel.
#pragma once

#include "backend/extensions/constants_extension.h"

namespace collage::test {

inline MaybePrepared prepare_one(Backend& backend, const LoadRequest& kernel) {
  return std::move(prepare_constants(backend, {&kernel, 1}).front());
}

}  // namespace collage::test
