// Writes and reads a graph as files for workers: ONNX, with the constants in `PATH.weights`, which readers map. Graphs
// that share constants write them once.
#pragma once

#include <map>
#include <string>

#include "base/buffer.h"
#include "ir/graph.h"

namespace collage {

/// Where the large constants of a graph file lie, by the address of their bytes, which are kept alive.
struct ConstantPlaces {
  struct Place {
    Buffer bytes;
    std::string file;  ///< a name in the folder
    std::size_t offset = 0;
  };
  std::map<const std::byte*, Place> by_address;
};

/// `earlier`: constants of a graph file in the same folder, which stays as it is; the new file refers to those that it
/// shares. Returns the places of all its large constants. Error file/cannot-write.
[[nodiscard]] Result<ConstantPlaces> write_graph_file(const std::string& path, const Graph& graph,
                                                      const ConstantPlaces& earlier = {});
/// The same graph, its large constants mapped. Errors file/cannot-read, import/*.
[[nodiscard]] Result<Graph> read_graph_file(const std::string& path);

}  // namespace collage
