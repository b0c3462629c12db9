// Writes and reads a graph as files for workers: ONNX, with the constants in `PATH.weights`, which readers map.
#pragma once

#include <string>

#include "ir/graph.h"

namespace collage {

/// Error file/cannot-write.
[[nodiscard]] Result<void> write_graph_file(const std::string& path, const Graph& graph);
/// The same graph, its large constants mapped. Errors file/cannot-read, import/*.
[[nodiscard]] Result<Graph> read_graph_file(const std::string& path);

}  // namespace collage
