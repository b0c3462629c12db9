// Operator sets 1 to 6. A model of these is one of set 7 when every operator in it is the same in both; others changed
// their meaning in ways that neither ONNX's version converter nor ONNX Runtime follows.
#include <onnx/defs/schema.h>

#include "onnx/legacy/legacy_rules.h"
#include "onnx/parse.h"

namespace collage {
namespace {

/// The operator set that defined what the operator means at set `opset`; 0 when there is no such operator.
int since(const std::string& op, std::int64_t opset) {
  const auto* const schema = pb::OpSchemaRegistry::Schema(op, static_cast<int>(opset), "");
  return schema != nullptr ? schema->SinceVersion() : 0;
}

Result<void> check_unchanged(const pb::NodeProto& node, std::int64_t opset) {
  if (!is_standard(node)) return {};
  if (since(node.op_type(), opset) == since(node.op_type(), kOldestOpset)) return {};
  return fail(ExitCode::kUnsupported, "import/opset-too-old", describe(node),
              "an operator that changed after opset " + std::to_string(opset),
              "opset " + std::to_string(kOldestOpset) + " or newer");
}

}  // namespace

Result<void> raise_oldest_versions(pb::ModelProto& model) {
  for (auto& opset : *model.mutable_opset_import()) {
    if (!opset.domain().empty() || opset.version() < 1 || opset.version() >= kOldestOpset) continue;
    Result<void> checked;
    for_each_graph(*model.mutable_graph(), [&](pb::GraphProto& graph) {
      for (const auto& node : graph.node())
        if (checked) checked = check_unchanged(node, opset.version());
    });
    COLLAGE_TRY_VOID(checked);
    opset.set_version(kOldestOpset);
  }
  return {};
}

}  // namespace collage
