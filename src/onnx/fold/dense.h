// Sparse tensors as dense ones, which is all that engines compute with.
// In:  a message of values and of where they stand, and how many bytes dense tensors may still take. Out: the dense
//      message, under the name of the values; zeros elsewhere.
// Cost: the dense tensor.
// Source: SparseTensorProto in onnx.proto.
#pragma once

#include <cstdint>

#include "onnx/limits.h"
#include "onnx/proto.h"

namespace collage {

/// The dense bytes of all sparse tensors of a model count together against ImportLimits::parse_memory.
class DenseTensors {
 public:
  explicit DenseTensors(const ImportLimits& limits) : limits_(limits) {}

  /// Errors: import/bad-tensor for indices that are none of the tensor; import/unsupported-type for elements that are
  /// not whole bytes; import/limit.
  [[nodiscard]] Result<pb::TensorProto> dense(const pb::SparseTensorProto& sparse, const std::string& where);

 private:
  const ImportLimits& limits_;
  std::uint64_t bytes_ = 0;
};

}  // namespace collage
