// The types of what operators of vendors give, where no inference of ours or of ONNX's library knows them: asked of
// those that run the operators (ImportOptions::vendor_types).
#pragma once

#include <functional>
#include <map>
#include <string>

#include "ir/type.h"
#include "onnx/proto.h"

namespace collage {

using VendorTypes = std::map<std::string, ValueType>;  ///< by value name
using VendorTypeSource = std::function<Result<VendorTypes>(const std::string& model)>;

/// Of the outputs of such operators in the outermost graph; none when there is no such operator or no source. Errors of
/// the source.
[[nodiscard]] Result<VendorTypes> ask_vendor_types(const pb::ModelProto& model, const VendorTypeSource& source);

/// Writes the types into the graph, so that inference continues from them.
void declare_vendor_types(const VendorTypes& types, pb::GraphProto& graph);

}  // namespace collage
