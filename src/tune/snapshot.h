// A graph on disk for workers: plain ONNX with its larger constants in a file beside it, so that workers map weights
// instead of parsing them.
#pragma once

#include <string>

#include "ir/graph.h"

namespace collage {

/// Writes `path` and `path`.weights. Error io/cannot-write.
[[nodiscard]] Result<void> write_snapshot(const Graph& graph, const std::string& path);

/// Reads what write_snapshot wrote; equal to the graph written. Errors of read_graph, io/cannot-read.
[[nodiscard]] Result<Graph> read_snapshot(const std::string& path);

}  // namespace collage
