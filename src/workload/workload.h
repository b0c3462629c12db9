// Well-known networks with seeded, sanely scaled random weights, so that anyone can try the product without a model.
// In: a name and sizes. Out: a Graph at operator set 20 whose values all have types.
// Source: the five cores of the Collage paper's evaluation (bert_full, dcgan, nasneta, resnet50_3d, resnext50_32x4d:
//         stem, pooling, classifier and embeddings removed) and complete networks as their papers and torchvision /
//         Hugging Face define them.
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
