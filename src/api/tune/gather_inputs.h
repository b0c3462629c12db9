// Collects the inputs of a run: read from files that the user gave, else generated from a seed.
// In:  files by input, ranges, a seed. Out: one tensor for each input.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace collage {

struct GatherOptions {
  std::map<std::string, std::string> files;  ///< input name -> .npy, .pb or .json
  std::map<std::string, std::pair<double, double>> ranges;
  std::uint64_t seed = 1;
};

/// The tensor in a .npy, .pb or .json file. Errors tensor/*.
[[nodiscard]] Result<Tensor> read_array(const std::string& path);

/// One value for each graph input, in order. The graph determines which integers are indices and into what.
/// Errors: input/unknown-name, those of check_value() (ir/check_value.h); input/bad-range, also for a range of an input
/// with a file; those of reading the files.
[[nodiscard]] Result<std::vector<Tensor>> gather_inputs(const Graph& graph, const GatherOptions& options);

}  // namespace collage
