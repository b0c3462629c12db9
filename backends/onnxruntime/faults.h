// Regions that ONNX Runtime accepts but computes wrongly, or fails to run. support() refuses them.
// Source: ONNX's official operator tests run on ONNX Runtime 1.31.1 (tests/conformance).
#pragma once

#include <optional>

#include "ir/graph.h"
#include "region/refusal.h"

namespace collage {

/// Why a node must not go to ONNX Runtime.
[[nodiscard]] std::optional<Refusal> onnxruntime_fault(const Graph& graph, const Node& node);

/// True when the library moves a Transpose past this node wrongly, so that channels_last ports break it.
[[nodiscard]] bool onnxruntime_keeps_plain(const Graph& graph, const Node& node);

}  // namespace collage
