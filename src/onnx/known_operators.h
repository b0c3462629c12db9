// Decides which operators import accepts: those of ONNX's own domains at the model's versions, functions of the model,
// and vendor operators that a backend claims to know.
#pragma once

#include <functional>
#include <string_view>

#include "onnx/proto.h"

namespace collage {

using KnowsVendorOperator = std::function<bool(std::string_view domain, std::string_view op)>;

/// Error import/unknown-operator naming the first node with an unknown operator; import/newer-operator for one that
/// came after the model's opset, import/invalid-model for a domain that is not imported or an axis no tensor has.
[[nodiscard]] Result<void> check_operators(const pb::ModelProto& model, const KnowsVendorOperator& knows_vendor);

/// Operators of the default domain that remained experimental; legacy_images.h rewrites them.
[[nodiscard]] bool is_rewritten_experiment(std::string_view op);
/// Operators that ONNX Runtime accepts at older versions than ONNX, with the meaning that ONNX defined later.
[[nodiscard]] bool is_accepted_early(std::string_view op);

/// Drops imports of domains that no node uses any more.
void drop_unused_domains(pb::ModelProto& model);

}  // namespace collage
