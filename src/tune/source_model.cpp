#include "tune/source_model.h"

#include <fstream>

#include "onnx/export.h"
#include "tune/proposers.h"
#include "tune/work_folder.h"

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

ImportOptions options_for(const RealisedPlan& plan, Registry& registry) {
  ImportOptions options;
  options.shapes.entries = plan.plan.shapes;
  options.knows_vendor_operator = [&registry](std::string_view domain, std::string_view op) {
    return knows_vendor_operator(registry, std::vector<std::string>{"onnxruntime"}, domain, op);
  };
  return options;
}

}  // namespace

Result<Graph> plan_onnx_graph(const RealisedPlan& plan) {
  COLLAGE_TRY(const WorkFolder folder, WorkFolder::create());
  COLLAGE_TRY_VOID(write_weights(plan, folder.file("weights.bin")));
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
  COLLAGE_TRY(Graph graph, plan_onnx_graph(plan));
  std::string bytes = export_graph(graph);
  return SourceModel{std::move(graph), std::move(bytes),
                     "the model is not at " + path + " any more; plan.onnx of the plan stands in"};
}

}  // namespace collage
