// Schedules that nobody wrote: Halide's heuristics for what is no matrix product.
// In: an output without any schedule, in buffers of fixed shapes. Out: the same, scheduled.
// How: the plug-in that lies beside Halide's library, opened when first needed. Where it keeps scratch whose size is
// not
//      known, compiling refuses the kernel.
// Cost: some ten milliseconds.
// Source: Mullapudi, Adams, Sharlet, Ragan-Kelley and Fatahalian, SIGGRAPH 2016.
#pragma once

#include <Halide.h>

#include "compiler/site.h"

namespace collage::native {

/// 1 where the plug-in is, else 0: the fact "autoscheduler".
[[nodiscard]] std::int64_t autoscheduler_fact();

/// Precondition: there is one. What Halide throws is for the caller to guard against.
void autoschedule(const Halide::Func& out, const Site& site);

}  // namespace collage::native
