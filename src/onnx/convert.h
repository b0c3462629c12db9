// Converts a model to the canonical operator versions with ONNX's version converter.
#pragma once

#include <string>

#include "onnx/proto.h"

namespace collage {

/// Converts the default domain to opset 26 and sets IR 10. Nodes in kFinalDomain already have the form of opset 26:
/// they are left as they are and moved to the default domain afterwards. Names of values and nodes are kept.
/// Errors: import/conversion (unsupported); import/newer-operator for operators defined after opset 26.
[[nodiscard]] Result<void> convert_to_canonical(pb::ModelProto& model, const std::string& where);

}  // namespace collage
