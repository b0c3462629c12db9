// Times in the JSON of explanations; internal to src/plan.
// In: nanoseconds. Out: microseconds.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "plan/explain/explanation.h"

namespace collage {

[[nodiscard]] inline double us(Nanoseconds ns) { return static_cast<double>(ns) / 1000; }

/// Nothing is put where nothing is known.
inline void put_us(nlohmann::ordered_json& object, const char* key, const std::optional<Nanoseconds>& ns) {
  if (ns) object[key] = us(*ns);
}

}  // namespace collage
