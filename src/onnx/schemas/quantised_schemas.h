// Type and shape inference for the operators on 8-bit numbers that ONNX Runtime's quantiser writes into models: those
// of com.microsoft beside ONNX's own QLinearConv and QLinearMatMul. Source: ONNX Runtime, docs/ContribOperators.md.
#pragma once

#include <onnx/defs/schema.h>

#include <map>
#include <string>

#include "onnx/proto.h"

namespace collage {

/// By operator.
[[nodiscard]] std::map<std::string, pb::InferenceFunction> quantised_inference();

}  // namespace collage
