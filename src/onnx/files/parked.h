// Takes large weights out of an ONNX message while ONNX's library processes it, because the library copies messages
// often, and because a message holds 2 GiB at most. Each weight is replaced by a token of a few bytes of raw data,
// which the version converter preserves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "onnx/proto.h"

namespace collage {

class ParkedWeights {
 public:
  /// Takes the data of every initialiser of more than 4 KiB out of the graph and its bodies, except int32, int64
  /// and bool, which inference may read. Errors as to_tensor.
  [[nodiscard]] Result<void> park(pb::GraphProto& graph);
  /// Whether an initialiser of this type and size is taken out.
  [[nodiscard]] static bool takes(ElementType type, std::size_t bytes);
  /// Takes one whose data lies elsewhere: `tensor` has the message's type and dimensions.
  void park(Tensor tensor, pb::TensorProto& message);
  /// The tensor that `message` stands for; null when the message holds its own data.
  [[nodiscard]] const Tensor* find(const pb::TensorProto& message) const;

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace collage
