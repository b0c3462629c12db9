// Keeps large weights outside the message while the model goes through ONNX's library, which copies messages freely.
// The message holds a token of a few bytes in their place, as raw data, which survives the version converter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "onnx/proto.h"

namespace collage {

class ParkedWeights {
 public:
  /// Takes the data of every initialiser of more than 4 KiB out of the graph and its bodies, except int32 and int64,
  /// which inference may read. Errors as to_tensor.
  [[nodiscard]] Result<void> park(pb::GraphProto& graph);
  /// The tensor that `message` stands for; null when the message holds its own data.
  [[nodiscard]] const Tensor* find(const pb::TensorProto& message) const;

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace collage
