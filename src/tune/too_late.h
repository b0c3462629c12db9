// Whether the budget leaves no time for a part of a tune. The same tune, asked for again with this budget, gets the
// same answer from the store, so that it ships the same plan and measures nothing.
#pragma once

#include <string>

#include "tune/measure_env.h"
#include "tune/tune_task.h"

namespace collage {

/// @param part  names the part and all that it depends on besides the task.
/// @param seconds  after which it is too late.
[[nodiscard]] bool is_too_late(const std::string& part, double seconds, const TuneTask& task, const MeasureEnv& env);

}  // namespace collage
