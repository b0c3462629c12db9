// Checks that every step of a plan finds what it reads: that nothing was written over it since.
// In:  values and steps whose indices and sizes are right. Out: nothing, or error plan/damaged.
// How: walks the steps and keeps the values whose bytes are intact. A write spoils every value it touches: those that
//      end there, and wholes with a part there. A view makes its outputs intact without a write: their bytes have to be
//      among those of its inputs, so a concatenation is read only after all its parts were written.
// Cost: O(steps x values intact at one time).
#pragma once

#include <string>

#include "base/error.h"
#include "plan/plan.h"

namespace collage {

/// Of one body; bodies inside are not entered. A step may write over exactly the bytes of one of its inputs, over no
/// other bytes of its inputs, outputs or workspace.
[[nodiscard]] Result<void> check_overwrites(const PlanBody& body, const std::string& where);

}  // namespace collage
