// Checks that the operators named by a user's rules exist.
// In: rules as read. Out: nothing, or the first name that ONNX does not have.
// Cost: a copy of ONNX's table of operators.
#pragma once

#include "region/user_rules.h"

namespace collage {

/// Error region/bad-rule at the rule. Operators of vendors' domains, "com.microsoft::FusedConv", are taken as they are.
[[nodiscard]] Result<void> check_rule_operators(const UserRules& rules);

}  // namespace collage
