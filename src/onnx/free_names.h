// What a body reads from the graphs around it.
#pragma once

#include <string>
#include <vector>

#include "onnx/proto.h"

namespace collage {

/// Names that a body reads and does not make, in the order of first reading; bodies inside are looked at where their
/// node stands, by the names of its attributes.
[[nodiscard]] std::vector<std::string> free_names(const pb::GraphProto& message);

}  // namespace collage
