// What the writer and the reader of plan.json agree on; internal to src/plan.
#pragma once

#include <array>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// Keys at the top level; all others belong to Plan::report_json.
inline constexpr std::array<std::string_view, 17> kPlanKeys = {
    "schema", "model",   "weights_hash", "shapes",    "machine", "accuracy",  "passes_off", "threads", "backends",
    "inputs", "outputs", "values",       "constants", "steps",   "artifacts", "memory",     "shipped"};

/// Which storages have a number beside the offset.
constexpr bool has_buffer(Storage storage, bool is_in_body) {
  return storage == Storage::kInput || storage == Storage::kOutput || (is_in_body && storage == Storage::kConstant);
}

}  // namespace collage
