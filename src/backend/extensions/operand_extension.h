// Extension of backends whose kernels check their operands themselves: indices within bounds, divisors that are not
// zero.
#pragma once

#include "backend/backend.h"
#include "ir/operand_conditions.h"

namespace collage {

class OperandExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kOperands;
  /// Its kernels end with an error where an operand of this operator breaks the rule.
  [[nodiscard]] virtual bool refuses_operands(const Node& node, OperandRule rule) const = 0;
};

/// As OperandExtension::refuses_operands; false without the extension. What a backend does not check, the plan checks
/// before the step; where the plan cannot, the backend does not get the region.
[[nodiscard]] inline bool refuses_operands(const Backend& backend, const Node& node, OperandRule rule) {
  const auto* const operands = extension_of<OperandExtension>(backend);
  return operands != nullptr && operands->refuses_operands(node, rule);
}

}  // namespace collage
