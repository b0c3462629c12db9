// Tensor code that another backend wrote, made ready for our code generator.
// In: a serialised pipeline and what its buffers are. Out: TensorCode, or what does not fit.
// Cost: that of deserialising.
// Source: Halide's deserialize_pipeline, whose parameters are replaced by ones of the shapes that the description says.
#pragma once

#include "backend/tensor_code.h"
#include "compiler/codegen/lowering.h"

namespace collage::native {

/// What Halide throws is for the caller to guard against. The description fits the region (fault_of in
/// backend/tensor_code.h).
[[nodiscard]] std::expected<TensorCode, Refusal> opened_code(const collage::TensorCode& given, const std::string& name);

}  // namespace collage::native
