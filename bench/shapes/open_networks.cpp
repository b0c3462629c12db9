// Writes the networks in which data decide shapes as ONNX files, to be tuned and benched like models of users.
//     open_networks FOLDER [WIDTH]
// WIDTH: of vectors and channels, 128 unless told.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "onnx/export.h"
#include "tests/support/run_time_shapes.h"

int main(int count, char** words) {
  if (count < 2) {
    std::fputs("usage: open_networks FOLDER [WIDTH]\n", stderr);
    return 2;
  }
  const std::int64_t width = count > 2 ? std::atoi(words[2]) : 128;
  std::filesystem::create_directories(words[1]);
  for (const auto& network : collage::testing_support::open_networks()) {
    const std::string path = std::string(words[1]) + "/" + network.name + ".onnx";
    const std::string bytes = collage::export_graph(network.make(width), {.external = {}, .node_metadata = {}});
    if (!(std::ofstream(path, std::ios::binary) << bytes)) {
      std::fprintf(stderr, "cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}
