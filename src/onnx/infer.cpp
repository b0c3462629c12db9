#include "onnx/infer.h"

#include <onnx/shape_inference/implementation.h>

#include "onnx/contrib_schemas.h"
#include "onnx/fold.h"

namespace collage {

Result<void> infer_shapes(pb::ModelProto& model, const std::string& where) {
  for_each_graph(*model.mutable_graph(), [](pb::GraphProto& graph) { graph.clear_value_info(); });
  // Symbols are made up for unknown dimensions; a stale one on an output would count as declared in the next round.
  for (auto& output : *model.mutable_graph()->mutable_output())
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  return guarded(ExitCode::kBadInput, "import/shape-inference", where, [&] {
    const Schemas schemas;
    const pb::ShapeInferenceOptions options(/*check_type_val=*/false, /*strict_mode_val=*/1, /*data_prop_val=*/true);
    pb::shape_inference::InferShapes(model, &schemas, options);
  });
}

Result<void> infer_and_fold(pb::ModelProto& model, const std::string& where) {
  constexpr int kMostRounds = 32;  // each round that folds removes nodes; long chains settle in a few
  for (int round = 0; round < kMostRounds; ++round) {
    COLLAGE_TRY_VOID(infer_shapes(model, where));
    if (fold_shape_arithmetic(*model.mutable_graph()) == 0) return {};
  }
  return infer_shapes(model, where);
}

}  // namespace collage
