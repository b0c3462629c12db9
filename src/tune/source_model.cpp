#include "tune/source_model.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "backend/roles.h"
#include "measure/work_folder.h"
#include "onnx/export.h"
#include "tune/proposers.h"

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
  options.knows_vendor_operator = [&registry](std::string_view domain, std::string_view op) {
    return knows_vendor_operator(registry, std::vector<std::string>{kFillerEngine}, domain, op);
  };
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

Result<SourceModel> find_source_model(const RealisedPlan& plan, const std::optional<std::string>& model,
                                      Registry& registry) {
  const std::string path = model.value_or(plan.plan.model_path);
  auto imported = import_model(path, options_for(plan, registry));
  if (imported && imported->model_hash == plan.plan.model_hash)
    return SourceModel{std::move(imported->graph), std::move(imported->bound_model), std::nullopt};
  if (model && !imported) return std::unexpected(imported.error());
  if (model)
    return fail(ExitCode::kBadInput, "plan/other-model", path, "a model with hash " + imported->model_hash,
                "the model the plan was made of, hash " + plan.plan.model_hash);
  const std::string note = "the model is not at " + path + " any more; plan.onnx of the plan stands in";
  COLLAGE_TRY(Graph graph, plan_onnx_graph(plan));
  std::string bytes = export_graph(graph);
  if (!has_open_inputs(graph)) return SourceModel{std::move(graph), std::move(bytes), note};
  COLLAGE_TRY(Imported bound, import_model(bytes, "", options_for(plan, registry)));
  return SourceModel{std::move(bound.graph), std::move(bound.bound_model), note};
}

}  // namespace collage
