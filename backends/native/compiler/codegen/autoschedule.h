// Schedules stages other than matrix products with Halide's Mullapudi2016 autoscheduler.
// In:  an output without a schedule, over buffers of fixed shapes. Out: the same output, scheduled.
// How: the autoscheduler is a plug-in beside Halide's library, opened at its first use. A schedule whose scratch has no
//       constant size is refused when it is compiled.
// Cost: about ten milliseconds.
// Source: Mullapudi, Adams, Sharlet, Ragan-Kelley and Fatahalian, SIGGRAPH 2016.
#pragma once

#include <Halide.h>

#include "compiler/analysis/site.h"

namespace collage::native {

/// 1 where the plug-in is, else 0: the fact "autoscheduler".
[[nodiscard]] std::int64_t autoscheduler_fact();

/// Precondition: there is one. What Halide throws is for the caller to guard against.
void autoschedule(const Halide::Func& out, const Site& site);

}  // namespace collage::native
