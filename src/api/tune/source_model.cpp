#include "api/tune/source_model.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/work_folder.h"
#include "onnx/export.h"
#include "onnx/files/model_file.h"
#include "sandbox/import_model.h"
#include "tune/vendor_operators.h"

namespace collage {
namespace {

/// weights.bin as the plan file holds it: every constant at its offset.
Result<void> write_weights(const RealisedPlan& plan, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  for (const auto& [index, tensor] : plan.constants) {
    file.seekp(static_cast<std::streamoff>(plan.plan.values[index].offset));
    file.write(reinterpret_cast<const char*>(tensor.data.data()), static_cast<std::streamsize>(tensor.data.size()));
  }
  if (!file.flush()) return fail(ExitCode::kIo, "io/cannot-write", path, "a failed write", "room for the weights");
  return {};
}

/// A file with a hole instead of contents.
Result<void> write_zeros(std::size_t bytes, const std::string& path) {
  std::ofstream(path, std::ios::binary);
  std::error_code error;
  std::filesystem::resize_file(path, bytes, error);
  if (error) return fail(ExitCode::kIo, "io/cannot-write", path, error.message(), "room for the weights");
  return {};
}

ImportOptions options_for(const RealisedPlan& plan, Registry& registry) {
  ImportOptions options;
  options.shapes.entries = plan.plan.shapes;
  ask_vendors(options, registry, {kFillerEngine});
  return options;
}

bool has_open_inputs(const Graph& graph) {
  return std::ranges::any_of(graph.inputs, [&](ValueId input) { return !graph.value(input).type.is_static(); });
}

}  // namespace

Result<Graph> plan_onnx_graph(const RealisedPlan& plan, PlanWeights weights) {
  COLLAGE_TRY(const WorkFolder folder, WorkFolder::create());
  const std::string path = folder.file("weights.bin");
  COLLAGE_TRY_VOID(weights == PlanWeights::kAll ? write_weights(plan, path)
                                                : write_zeros(plan.plan.weights_bytes, path));
  return read_graph(std::string(plan.onnx.text()), folder.path());
}

namespace {

/// The model at its path, or why plan.onnx has to be used instead.
std::expected<SourceModel, std::string> model_at(const std::string& path, const RealisedPlan& plan, Registry& registry,
                                                 const ModelReader& reader) {
  if (path == kModelInMemory) return std::unexpected("the model was given as bytes");
  if (!can_read_again(path)) return std::unexpected("the model came through a pipe");
  auto imported = import_apart(path, options_for(plan, registry), reader);
  if (!imported && imported.error().code == "import/not-found" && !std::filesystem::exists(path))
    return std::unexpected("the model is not at " + path + " any more");
  if (!imported)
    return std::unexpected(
        fmt::format("the model at {} cannot be read: {}: saw {}", path, imported.error().where, imported.error().saw));
  if (imported->model_hash != plan.plan.model_hash)
    return std::unexpected("the file at " + path + " has changed since the plan was made");
  return SourceModel{std::move(imported->graph), std::move(imported->bound_model), std::nullopt};
}

Result<SourceModel> model_given(const std::string& path, const RealisedPlan& plan, Registry& registry,
                                const ModelReader& reader) {
  COLLAGE_TRY(Imported imported, import_apart(path, options_for(plan, registry), reader));
  if (imported.model_hash == plan.plan.model_hash)
    return SourceModel{std::move(imported.graph), std::move(imported.bound_model), std::nullopt};
  return fail(ExitCode::kBadInput, "plan/other-model", path, "a model with hash " + imported.model_hash,
              "the model the plan was made of, hash " + plan.plan.model_hash);
}

}  // namespace

Result<SourceModel> find_source_model(const RealisedPlan& plan, const std::optional<std::string>& model,
                                      Registry& registry, const ModelReader& reader) {
  if (model) return model_given(*model, plan, registry, reader);
  auto found = model_at(plan.plan.model_path, plan, registry, reader);
  if (found) return std::move(*found);
  const std::string note = found.error() + "; plan.onnx of the plan stands in";
  COLLAGE_TRY(Graph graph, plan_onnx_graph(plan));
  std::string bytes = export_graph(graph);
  if (!has_open_inputs(graph)) return SourceModel{std::move(graph), std::move(bytes), note};
  COLLAGE_TRY(Imported bound, import_model(bytes, "", options_for(plan, registry)));
  return SourceModel{std::move(bound.graph), std::move(bound.bound_model), note};
}

}  // namespace collage
