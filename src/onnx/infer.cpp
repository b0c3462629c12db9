#include "onnx/infer.h"

#include <onnx/shape_inference/implementation.h>

#include "onnx/bind.h"
#include "onnx/contrib_schemas.h"
#include "onnx/fold.h"

namespace collage {

Result<void> infer_shapes(pb::ModelProto& model, const std::string& where) {
  // Symbols are made up for unknown dimensions; stale ones would count as declared in the next round.
  drop_declared_shapes(*model.mutable_graph());
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
