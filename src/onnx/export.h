// Writes a graph as a standard ONNX model. read_graph() (import.h) reads the same graph back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace collage {

/// The place of a constant's bytes outside the model: a file beside it and an offset in that file.
struct ExternalLocation {
  std::string file;
  std::size_t offset = 0;
  bool operator==(const ExternalLocation&) const = default;
};

struct ExportOptions {
  /// Selects the constants of the outermost graph that are stored outside; nothing = inside the model.
  std::function<std::optional<ExternalLocation>(ValueId)> external;
  /// Constants of at most this many bytes stay inside whatever `external` says: engines read shapes from them.
  std::size_t inline_limit = 1024;
  /// Key-value pairs for a node's metadata_props.
  std::function<std::vector<std::pair<std::string, std::string>>(NodeId)> node_metadata;
  std::int64_t ir_version = 10;  ///< raised when an element type of the graph needs a newer one
  bool value_info = true;        ///< write the types of inner values
  bool keep_ids = true;  ///< store ids and capture order in metadata_props, so that the graph read back is equal
};

/// The graph as a serialised ModelProto. A region is export_graph(extract(graph, region)).
/// Deterministic: equal graphs and options give equal bytes.
[[nodiscard]] std::string export_graph(const Graph& graph, const ExportOptions& options = {});

}  // namespace collage
