// Implements the operators that occur in shape arithmetic, for small values, as opset 26 defines them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/small_value.h"

namespace collage {

/// One node to evaluate. `inputs` holds null for operands that are omitted or not known.
struct FoldRequest {
  const pb::NodeProto& node;
  std::span<const SmallValue* const> inputs;
  /// The static shape of an input's type, which Shape and Size need; nothing when it is not static.
  std::function<std::optional<std::vector<std::int64_t>>(const std::string& name)> shape_of;
};

/// The node's outputs; nothing when it cannot be folded. Never fails on malformed nodes: those are left alone.
[[nodiscard]] std::optional<std::vector<SmallValue>> fold_node(const FoldRequest& request);

}  // namespace collage
