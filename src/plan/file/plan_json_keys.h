// Keys and names shared by the writer and the reader of plan.json; internal to src/plan.
#pragma once

#include <array>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// Which storages have a number beside the offset.
constexpr bool has_buffer(Storage storage, bool is_in_body) {
  return storage == Storage::kInput || storage == Storage::kOutput ||
         (is_in_body && (storage == Storage::kConstant || storage == Storage::kDynamic));
}

}  // namespace collage
