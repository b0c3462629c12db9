// What OpenVINO's ONNX front end and CPU plug-in take: the facts behind support().
#pragma once

#include <optional>

#include "backends/engine/engine_support.h"

namespace collage {

[[nodiscard]] const EngineLimits& openvino_limits();

/// Why the strict accuracy class rules a region out: OpenVINO always multiplies neighbouring factors into weights and
/// computes f64 in f32.
[[nodiscard]] std::optional<Refusal> strict_refusal(const Graph& graph, const Region& region);

}  // namespace collage
