// Runs an If, Loop or Scan whose bodies have steps of their own.
// In:  a control step, its loaded bodies, the surrounding addresses. Out: a call. Everything is bound when the call is
//       made; a run selects a branch, counts and copies, and allocates nothing but for values whose extents are known
//       only while it runs.
// Cost: in addition to the bodies, an If costs nothing, a Loop or Scan one copy of every carried value and slice for
//       each iteration.
#pragma once

#include <memory>

#include "runtime/loaded_body.h"

namespace collage {

/// Errors of Kernel::bind. Error of run(): that of the first step inside that fails; runtime/trip-count when a Loop
/// does not make as many iterations as its results have room for; runtime/open-shape for a tensor of another type than
/// the plan says; session/cancelled, asked before each step.
[[nodiscard]] Result<std::unique_ptr<Call>> bind_control(const LoadedBody& around, const BodyMemory& memory,
                                                         std::size_t step);

}  // namespace collage
