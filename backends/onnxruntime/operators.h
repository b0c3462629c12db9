// The operators and types that ONNX Runtime's CPU provider supports; support() is based on them.
#pragma once

#include <string_view>

#include "backends/common/engine/engine_support.h"
#include "ir/operand_conditions.h"

namespace collage {

[[nodiscard]] const EngineLimits& onnxruntime_limits();
/// Where libraries of custom operators are loaded: operators of all vendors' domains too.
[[nodiscard]] const EngineLimits& onnxruntime_limits_with_libraries();

/// A domain that neither ONNX nor ONNX Runtime defines.
[[nodiscard]] bool is_vendor_domain(std::string_view domain);

/// Operands of this operator that break the rule end a run with an error.
[[nodiscard]] bool onnxruntime_refuses(const Node& node, OperandRule rule);

/// True for operators that ONNX Runtime implements only as they were before operator set 22, which widened their
/// types and nothing else.
[[nodiscard]] bool needs_opset_21(std::string_view domain, std::string_view op_type);
inline constexpr std::int64_t kOlderOpset = 21;

}  // namespace collage
