#include "onnx/infer.h"

#include <onnx/shape_inference/implementation.h>

#include "onnx/bind.h"
#include "onnx/body_constants.h"
#include "onnx/branches.h"
#include "onnx/check_tensors.h"
#include "onnx/fold/fold.h"
#include "onnx/loop_types.h"
#include "onnx/rules/attribute_rules.h"
#include "onnx/schemas/contrib_schemas.h"

namespace collage {

namespace {

/// The innermost complaint: "(op_type:Squeeze, node name: x): [ShapeInferenceError] Dimension..." without its
/// wrappings.
Error unwrapped(Error error) {
  if (const std::size_t at = error.saw.rfind("(op_type:"); at != std::string::npos) error.saw.erase(0, at);
  return error;
}

Result<void> infer_once(pb::ModelProto& model, const VendorTypes& vendor, const std::string& where, bool propagate_data,
                        UnfitBranches& unfit) {
  unfit.clear();
  // Symbols are made up for unknown dimensions; stale ones would count as declared in the next round.
  drop_declared_shapes(*model.mutable_graph());
  declare_vendor_types(vendor, *model.mutable_graph());
  return guarded(ExitCode::kBadInput, "import/shape-inference", where, [&] {
    const Schemas schemas(unfit);
    const pb::ShapeInferenceOptions options(/*check_type_val=*/false, /*strict_mode_val=*/1, propagate_data);
    pb::shape_inference::InferShapes(model, &schemas, options);
  });
}

Result<void> infer_as_declared(pb::ModelProto& model, const VendorTypes& vendor, const std::string& where,
                               UnfitBranches& unfit) {
  // Data propagation refuses some valid models, for one those whose branches use a name twice.
  if (infer_once(model, vendor, where, true, unfit)) return {};
  auto result = infer_once(model, vendor, where, false, unfit);
  if (!result) return std::unexpected(unwrapped(std::move(result).error()));
  return result;
}

Result<void> infer_types(pb::ModelProto& model, const VendorTypes& vendor, const std::string& where,
                         UnfitBranches& unfit) {
  // An extent that is opened may open others, through values that depend on it; one round is enough for most models.
  constexpr int kMostRounds = 16;
  for (int round = 0; round < kMostRounds; ++round) {
    COLLAGE_TRY_VOID(infer_as_declared(model, vendor, where, unfit));
    if (!open_changing_inputs(*model.mutable_graph())) return {};
  }
  return infer_as_declared(model, vendor, where, unfit);
}

/// Constants that break a rule can end inference by a division; those that folding has just found are looked at first.
Result<void> infer(pb::ModelProto& model, const VendorTypes& vendor, const ImportLimits& limits,
                   const std::string& where, UnfitBranches& unfit) {
  COLLAGE_TRY_VOID(check_rules(model, limits));
  COLLAGE_TRY_VOID(infer_types(model, vendor, where, unfit));
  COLLAGE_TRY_VOID(check_types(model.graph(), limits));
  return check_rules(model, limits);
}

}  // namespace

Result<void> infer_shapes(pb::ModelProto& model, const VendorTypes& vendor, const ImportLimits& limits,
                          const std::string& where) {
  UnfitBranches unfit;
  return infer(model, vendor, limits, where, unfit);
}

Result<void> infer_and_fold(pb::ModelProto& model, const VendorTypes& vendor, const ImportLimits& limits,
                            const std::string& where, std::vector<std::string>& notes) {
  constexpr int kMostRounds = 32;  // each round that changes something removes nodes; long chains settle in a few
  name_branches(*model.mutable_graph());
  for (int round = 0; round < kMostRounds; ++round) {
    UnfitBranches unfit;
    copy_constants_into_bodies(*model.mutable_graph());
    COLLAGE_TRY_VOID(infer(model, vendor, limits, where, unfit));
    const int folded = fold_shape_arithmetic(*model.mutable_graph());
    const int inlined = inline_decided_branches(*model.mutable_graph(), unfit, notes);
    if (folded + inlined == 0) return {};
  }
  return infer_shapes(model, vendor, limits, where);
}

}  // namespace collage
