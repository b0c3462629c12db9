// Brings a model to the canonical operator versions with ONNX's version converter.
#pragma once

#include <string>

#include "onnx/proto.h"

namespace collage {

/// Converts the default domain to opset 26 and sets IR 10. Nodes of kFinalDomain already have their final form: they
/// pass untouched and join the default domain afterwards. Names of values and nodes stay.
/// Errors: import/conversion (unsupported), import/newer-operator for meanings newer than opset 26.
[[nodiscard]] Result<void> convert_to_canonical(pb::ModelProto& model, const std::string& where);

}  // namespace collage
