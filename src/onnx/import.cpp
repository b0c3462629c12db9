#include "onnx/import.h"

#include <onnx/checker.h>
#include <onnx/inliner/inliner.h>

#include "base/hash.h"
#include "ir/operand_conditions.h"
#include "onnx/bind.h"
#include "onnx/check_structure.h"
#include "onnx/check_tensors.h"
#include "onnx/convert.h"
#include "onnx/files/external_data.h"
#include "onnx/files/model_file.h"
#include "onnx/files/parked.h"
#include "onnx/fold/fold.h"
#include "onnx/function_calls.h"
#include "onnx/import_arrays.h"
#include "onnx/infer.h"
#include "onnx/known_operators.h"
#include "onnx/legacy/legacy_rules.h"
#include "onnx/parse.h"
#include "onnx/rules/attribute_rules.h"
#include "onnx/to_graph.h"
#include "onnx/vendor_types.h"

namespace collage {
namespace {

/// The user's model with dimensions bound and initialisers repaired, as bytes.
Result<std::string> bytes_of(const pb::ModelProto& model, const std::string& where) {
  std::string bytes;
  bool written = false;
  COLLAGE_TRY_VOID(
      guarded(ExitCode::kLimit, "import/too-large", where, [&] { written = model.SerializeToString(&bytes); }));
  if (!written) return fail(ExitCode::kLimit, "import/too-large", where, "more than 2 GiB of weights", "2 GiB in all");
  return bytes;
}

/// The checker wants a shape on every output; binding took it away, and inference, which comes next, writes the true
/// one.
void satisfy_checker(pb::GraphProto& graph) {
  for (auto& output : *graph.mutable_output())
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->mutable_shape();
}

/// Steps that make the message one that ONNX's library can work on: known operators only, checked, functions inlined.
Result<void> validate(pb::ModelProto& model, const ParkedWeights& parked, const ImportOptions& options,
                      const std::string& where) {
  COLLAGE_TRY_VOID(raise_oldest_versions(model));
  COLLAGE_TRY_VOID(check_versions(model, where));
  COLLAGE_TRY_VOID(check_operators(model, options.knows_vendor_operator));
  COLLAGE_TRY_VOID(check_structure(model));
  COLLAGE_TRY_VOID(check_rules(model, options.limits));
  COLLAGE_TRY_VOID(rewrite_experiments(model));
  satisfy_checker(*model.mutable_graph());
  parked.show_as_tokens(*model.mutable_graph());
  COLLAGE_TRY_VOID(guarded(ExitCode::kBadInput, "import/invalid-model", where,
                           [&] { pb::checker::check_model(model, false, true); }));
  parked.show_as_weights(*model.mutable_graph());
  if (model.functions_size() == 0) return {};
  return guarded(ExitCode::kUnsupported, "import/functions", where,
                 [&] { pb::inliner::InlineLocalFunctions(model, true); });
}

/// From the validated message to the canonical one: legacy rules, conversion, inference, folding.
Result<Graph> canonical_graph(pb::ModelProto& model, const VendorTypes& vendor, const ImportLimits& limits,
                              ParkedWeights& parked, const std::string& where, std::vector<std::string>& notes) {
  pb::GraphProto& graph = *model.mutable_graph();
  COLLAGE_TRY_VOID(constants_to_initialisers(graph, limits));
  drop_unused_outputs(model);
  COLLAGE_TRY_VOID(parked.park(graph));
  COLLAGE_TRY_VOID(infer_shapes(model, vendor, limits, where));
  COLLAGE_TRY_VOID(rewrite_legacy(model));
  COLLAGE_TRY_VOID(convert_to_canonical(model, where));
  COLLAGE_TRY_VOID(constants_to_initialisers(*model.mutable_graph(), limits));
  COLLAGE_TRY_VOID(infer_and_fold(model, vendor, limits, where, notes));
  COLLAGE_TRY_VOID(check_operand_types(model));
  drop_unused_initialisers(*model.mutable_graph());
  drop_unused_domains(model);
  COLLAGE_TRY(Graph result, to_graph(model, {.parked = &parked, .files = nullptr}));
  COLLAGE_TRY_VOID(verify(result));
  COLLAGE_TRY_VOID(check_constant_operands(result));
  return result;
}

Result<Imported> import_bytes(std::string_view bytes, const ModelFolders& folders, const ImportOptions& options,
                              const ArrayShapes& arrays, const std::string& where) {
  COLLAGE_TRY(pb::ModelProto model, parse_model(bytes, options.limits, where));
  COLLAGE_TRY_VOID(check_declared_versions(model, where));
  normalise_domains(model);
  drop_empty_attributes(model);
  COLLAGE_TRY_VOID(check_tensors(model, options.limits));
  COLLAGE_TRY_VOID(check_functions(model, options.limits, where));
  Imported imported;
  for (const auto& entry : model.metadata_props()) imported.metadata[entry.key()] = entry.value();
  std::string hash_input = hash_hex(bytes);
  ParkedWeights parked;
  COLLAGE_TRY(LoadedData external, load_external_data(model, folders, hash_input, parked));
  imported.weight_files = std::move(external.files);
  imported.model_hash = hash_hex(hash_input);

  repair_initialisers(model, imported.notes);
  drop_declared_shapes(*model.mutable_graph());
  const ShapeBindings shapes = with_arrays(options.shapes, model.graph(), arrays);
  COLLAGE_TRY_VOID(bind_dimensions(model, shapes, options.allow_unbound, imported.notes));
  if (external.is_large) {
    imported.notes.emplace_back("the weights exceed 2 GiB: engines run the imported graph, not the file");
  } else if (options.wants_file) {
    COLLAGE_TRY(imported.bound_model, bytes_of(model, where));
  }

  COLLAGE_TRY_VOID(validate(model, parked, options, where));
  // A message without its weights runs nowhere.
  VendorTypes vendor;
  if (!external.is_large) {
    COLLAGE_TRY(vendor, ask_vendor_types(model, options.vendor_types));
  }
  imported.opset = std::max<std::int64_t>(0, opset_of(model, ""));
  COLLAGE_TRY(imported.graph, canonical_graph(model, vendor, options.limits, parked, where, imported.notes));
  return imported;
}

/// Nothing a file can hold may end the process: what ONNX's library or the standard library throws becomes an error.
Result<Imported> import_guarded(std::string_view bytes, const ModelFolders& folders, const ImportOptions& options,
                                const ArrayShapes& arrays, const std::string& where) {
  Result<Imported> imported;
  COLLAGE_TRY_VOID(guarded(ExitCode::kBadInput, "import/invalid-model", where,
                           [&] { imported = import_bytes(bytes, folders, options, arrays, where); }));
  return imported;
}

}  // namespace

Result<Imported> import_model(const std::string& path, const ImportOptions& options) {
  return import_model_for(path, options, {});
}

Result<Imported> import_model_for(const std::string& path, const ImportOptions& options, const ArrayShapes& arrays) {
  COLLAGE_TRY(const ModelFile file, read_model_file(path));
  return import_read(file, options, arrays);
}

Result<Imported> import_read(const ModelFile& file, const ImportOptions& options, const ArrayShapes& arrays) {
  return import_guarded(file.contents(), file.folders, options, arrays, file.path);
}

Result<Imported> import_model(const std::string& bytes, const std::string& folder, const ImportOptions& options) {
  return import_guarded(bytes, {.named = folder}, options, {}, "model");
}

}  // namespace collage
