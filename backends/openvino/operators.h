// The operators and types that OpenVINO's ONNX front end and CPU plug-in support; support() is based on them.
#pragma once

#include <optional>

#include "backends/common/engine/engine_support.h"
#include "ir/operand_conditions.h"

namespace collage {

[[nodiscard]] const EngineLimits& openvino_limits();

/// Operands of this operator that break the rule end a run with an error. Of indices none do for certain: it computes
/// them in 32 bits, and looks at those of few operators.
[[nodiscard]] bool openvino_refuses(const Node& node, OperandRule rule);

/// Why the strict accuracy class rules a region out: OpenVINO always multiplies neighbouring factors into weights and
/// computes f64 in f32.
[[nodiscard]] std::optional<Refusal> strict_refusal(const Graph& graph, const Region& region);

}  // namespace collage
