// What a step has to do, whoever runs it, and the least time that takes at the peak rates of the plan's machine.
// In:  a plan, its explanation. Out: operations, bytes and that time, by step.
// Example: a MatMul of [512, 512] by [512, 512] floats is 268 million operations on 3 MiB. At 100 operations and 200
// bytes a nanosecond the arithmetic takes 2684 us and the bytes 16 us, so no step takes less than 2684 us. Source:
// Williams, Waterman, Patterson, Roofline, CACM 2009.
#pragma once

#include <optional>
#include <vector>

#include "plan/explain/explanation.h"
#include "plan/plan.h"

namespace collage {

struct StepWork {
  /// Of its nodes as they are defined, those that it recomputes included. 0 where they are not worth counting, and in
  /// all steps of a plan without rates, whose version did not count.
  double flops = 0;
  double bytes = 0;         ///< inputs, outputs and weights; a view has none
  double weight_bytes = 0;  ///< of these, the constants that it is loaded with
  /// In 32 bits and from the first cache. Winograd's algorithm and steps in 16 bits can take less. Nothing where the
  /// explanation has no rates.
  std::optional<double> roofline_us = {};
};

/// Of the plan's own steps, in order; those inside bodies have no operations that are counted.
[[nodiscard]] std::vector<StepWork> work_of_steps(const Plan& plan, const Explanation& explanation);

}  // namespace collage
