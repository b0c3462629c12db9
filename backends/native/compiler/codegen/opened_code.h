// Deserialises tensor code that another backend wrote, for our code generator.
// In:  a serialised pipeline and the description of its buffers. Out: TensorCode, or what does not fit.
// Cost: that of deserialising.
// Source: Halide's deserialize_pipeline. Its parameters are replaced by ones with the shapes of the description.
#pragma once

#include "backend/tensor_code.h"
#include "compiler/codegen/lowering.h"

namespace collage::native {

/// What Halide throws is for the caller to guard against. The description fits the region (fault_of in
/// backend/tensor_code.h).
[[nodiscard]] std::expected<TensorCode, Refusal> opened_code(const collage::TensorCode& given, const std::string& name);

}  // namespace collage::native
