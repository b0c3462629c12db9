// The settings with which a plan was tuned, for another tune of its model.
// In:  a plan, the user's options. Out: options.
#pragma once

#include "plan/plan.h"
#include "tune/tune.h"

namespace collage {

/// The options with the plan's own shapes, threads, accuracy, passes and backends in place of the user's.
[[nodiscard]] TuneOptions with_settings_of(const Plan& plan, TuneOptions options);

}  // namespace collage
