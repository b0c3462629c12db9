// ONNX's AttributeProtos -> attributes of a node.
// In: a node's message. Out: its attributes by name, or error import/unsupported-attribute, import/invalid-model,
//     import/bad-tensor.
// Not here: bodies; who reads graphs reads them (to_graph.cpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "onnx/proto.h"

namespace collage {

using ReadBody = std::function<Result<Body>(const pb::GraphProto&)>;

/// `where` names the node in errors.
[[nodiscard]] Result<std::vector<Attribute>> read_attributes(const pb::NodeProto& message, const std::string& where,
                                                             const ReadBody& read_body);

}  // namespace collage
