// Checks that no step of a plan reads bytes that were overwritten since they were written.
// In:  values and steps whose indices and sizes are valid. Out: nothing, or error plan/damaged.
// How: walks through the steps and keeps the set of intact values. A write invalidates every value whose bytes it
//       touches: values that overlap it, and wholes of which it is a part. A view makes its outputs intact without
//       writing; their bytes must be among those of its inputs. A concatenation is thus read only after all its parts
//       were written.
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
