// The types of the outputs of a model with custom operators, found by running it: few libraries say the shapes.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/type.h"

namespace collage {

/// By name. A run each on zeros, on ones and on numbers that rise; extents on which these differ are open. Inputs of
/// open shape: what the session infers. Error operators/failed with the library's message.
[[nodiscard]] Result<std::map<std::string, ValueType>> onnxruntime_output_types(
    const std::shared_ptr<Ort::Env>& environment, const std::vector<std::string>& libraries, const std::string& model);

}  // namespace collage
