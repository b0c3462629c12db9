// Times in the JSON of explanations: microseconds from nanoseconds. Internal to src/plan/explain.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/json_numbers.h"
#include "plan/explain/explanation.h"

namespace collage {

/// Nothing is put where nothing is known.
inline void put_us(nlohmann::ordered_json& object, const char* key, const std::optional<Nanoseconds>& ns) {
  if (ns) object[key] = to_us(*ns);
}

}  // namespace collage
