// The types of the outputs of a model with operators that import has no inference for. Those of ONNX Runtime itself are
// inferred by it; a model with custom operators is run: few libraries say the shapes.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/type.h"

namespace collage {

/// By name; without libraries what the session infers. With them a run each on zeros, on ones and on numbers that rise;
/// extents on which these differ are open. Inputs of open shape: what the session infers. Error operators/failed with
/// the library's message.
[[nodiscard]] Result<std::map<std::string, ValueType>> onnxruntime_output_types(
    const std::shared_ptr<Ort::Env>& environment, const std::vector<std::string>& libraries, const std::string& model);

}  // namespace collage
