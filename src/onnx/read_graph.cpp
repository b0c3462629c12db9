#include "onnx/import.h"
#include "onnx/parse.h"
#include "onnx/to_graph.h"

namespace collage {

Result<Graph> read_graph(const std::string& bytes, const std::string& folder) {
  COLLAGE_TRY(const pb::ModelProto model, parse_model(bytes, {}, "graph file"));
  ExternalFiles files({.named = folder});
  COLLAGE_TRY(Graph graph, to_graph(model, {.parked = nullptr, .files = &files}));
  COLLAGE_TRY_VOID(verify(graph));
  return graph;
}

}  // namespace collage
