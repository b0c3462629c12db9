// The checks of a step's operands (PlanCheck), bound to addresses; internal to src/runtime.
// In:  a step of a plan and its call. Out: a call that checks the operands before it runs the step, without allocation.
// Cost: one pass over each checked operand: indices and divisors, never the data.
#pragma once

#include <memory>

#include "runtime/loaded_body.h"

namespace collage {

/// The call itself when the step has no checks. When one fails, running gives runtime/bad-operand: where = the node and
/// the value.
[[nodiscard]] std::unique_ptr<Call> with_checks(const LoadedBody& body, const BodyMemory& memory, const PlanStep& step,
                                                std::unique_ptr<Call> call);

}  // namespace collage
