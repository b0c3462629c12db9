// Regions that OpenVINO accepts but computes wrongly. support() refuses them.
// Source: ONNX's official operator tests and our own cases run on OpenVINO 2026.4 (tests/conformance).
#pragma once

#include <optional>

#include "ir/graph.h"
#include "region/refusal.h"

namespace collage {

/// Why a node must not go to OpenVINO.
[[nodiscard]] std::optional<Refusal> openvino_fault(const Graph& graph, const Node& node);

}  // namespace collage
