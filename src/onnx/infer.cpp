#include "onnx/infer.h"

#include <onnx/shape_inference/implementation.h>

#include "onnx/bind.h"
#include "onnx/contrib_schemas.h"
#include "onnx/fold.h"

namespace collage {

namespace {

/// The innermost complaint: "(op_type:Squeeze, node name: x): [ShapeInferenceError] Dimension..." without its wrappings.
Error unwrapped(Error error) {
  if (const std::size_t at = error.saw.rfind("(op_type:"); at != std::string::npos) error.saw.erase(0, at);
  return error;
}

Result<void> infer_once(pb::ModelProto& model, const std::string& where, bool propagate_data) {
  // Symbols are made up for unknown dimensions; stale ones would count as declared in the next round.
  drop_declared_shapes(*model.mutable_graph());
  return guarded(ExitCode::kBadInput, "import/shape-inference", where, [&] {
    const Schemas schemas;
    const pb::ShapeInferenceOptions options(/*check_type_val=*/false, /*strict_mode_val=*/1, propagate_data);
    pb::shape_inference::InferShapes(model, &schemas, options);
  });
}

}  // namespace

Result<void> infer_shapes(pb::ModelProto& model, const std::string& where) {
  // Data propagation refuses some valid models, for one those whose branches use a name twice.
  if (infer_once(model, where, true)) return {};
  auto result = infer_once(model, where, false);
  if (!result) return std::unexpected(unwrapped(std::move(result).error()));
  return result;
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
