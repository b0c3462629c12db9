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
  /// Gives tokens the type and dimensions of their own few bytes, for who compares these, and back.
  void show_as_tokens(pb::GraphProto& graph) const;
  void show_as_weights(pb::GraphProto& graph) const;
  /// The tensor that `message` stands for; null when the message holds its own data.
  [[nodiscard]] const Tensor* find(const pb::TensorProto& message) const;

 private:
  /// What the raw data of a message names, whatever its dimensions.
  [[nodiscard]] const Tensor* named_by(const pb::TensorProto& message) const;

  std::vector<Tensor> tensors_;
};

}  // namespace collage
