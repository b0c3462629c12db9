// Well-known networks with seeded random weights of a realistic scale, so that Collage can be tried without a model
// file.
// In:  a name and sizes. Out: a Graph at opset 20 in which all values have types.
// Source: the five networks of the Collage paper's evaluation (bert_full, dcgan, nasneta, resnet50_3d, resnext50_32x4d:
//       without stem, pooling, classifier and embeddings), and complete networks as defined by their papers and by
//       torchvision or Hugging Face.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace collage {

struct WorkloadOptions {
  std::int64_t batch = 1;
  std::int64_t seq = 0;      ///< tokens; 0 = the network's own default. Transformers only
  std::int64_t layers = 0;   ///< blocks; 0 = the network's own default. Transformers only
  bool dynamic = false;      ///< the batch dimension stays symbolic ("batch")
  bool dynamic_seq = false;  ///< the number of tokens stays symbolic ("seq"), up to seq or the default where a table
                             ///< of positions bounds it. Encoders only: bert_base, bert_full
  std::uint64_t seed = 1;
};

[[nodiscard]] std::vector<std::string_view> workload_names();

/// Error workload/unknown-name listing the names; workload/bad-size for sizes a network cannot have.
[[nodiscard]] Result<Graph> make_workload(std::string_view name, const WorkloadOptions& options = {});

}  // namespace collage
