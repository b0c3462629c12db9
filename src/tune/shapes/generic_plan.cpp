#include "tune/shapes/generic_plan.h"

#include <algorithm>

#include "backend/extensions/open_compiler.h"
#include "numbers/graph_file.h"
#include "passes/simplify.h"
#include "sandbox/import_model.h"
#include "store/artifact_file.h"
#include "timing/machine.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/whole_model.h"
#include "tune/jobs.h"
#include "tune/vendor_operators.h"

namespace collage {
namespace {

/// A range is for a dimension, and a name that is an input's means the input.
Result<void> refuse_input_ranges(const ShapeDomain& domain, const Graph& graph) {
  for (const DimensionRange& range : domain.dimensions)
    for (const ValueId input : graph.inputs)
      if (graph.value(input).name == range.name)
        return fail(ExitCode::kUsage, "shape/range", "--shape " + range.name, "a range for an input",
                    "a range for one of its dimensions: " + to_string(graph.value(input).type));
  return {};
}

/// Every open dimension of an input is one of the domain's.
Result<void> refuse_unbound(const ShapeDomain& domain, const CaseInput& input) {
  ShapePoint lowest;
  for (const DimensionRange& range : domain.dimensions) lowest.push_back(range.low);
  const ValueType type = type_at(domain, lowest, input.type);
  const bool has_open_strings = type.kind == ValueKind::kTensor && type.is_held() &&
                                !(type.shape && std::ranges::all_of(*type.shape, &Dim::is_static));
  if (type.is_static() || (type.is_held() && !has_open_strings)) return {};
  return fail(ExitCode::kBadInput, "import/unbound-dimension", "input " + input.name, to_string(input.type),
              "an extent or a range for each of its dimensions");
}

class GenericMaker {
 public:
  GenericMaker(const OpenModel& model, const TuneOptions& options, Registry& registry, WorkerProcess& worker,
               const WorkFolder& folder)
      : model_(model), options_(options), registry_(registry), worker_(worker), folder_(folder) {}

  Result<GenericPlan> make(const std::string& name, const std::string& engine, const Graph& graph,
                           const std::string& file) const {
    const Cover cover = whole_cover(graph, engine);
    COLLAGE_TRY(const std::string hash, compile_model(worker_, {.graph = file,
                                                                .model = "",
                                                                .engine = engine,
                                                                .folder = folder_.path(),
                                                                .threads = options_.threads,
                                                                .domain = model_.domain,
                                                                .samples = model_.samples}));
    AssembleRequest request{.graph = &graph, .cover = &cover};
    COLLAGE_TRY(request.artifacts.emplace_back(),
                read_artifact(folder_.path(), hash, chosen_region(cover.steps.front())->constants));
    request.header.model_path = options_.name_of_model();
    request.header.model_hash = model_.model_hash;
    request.header.shapes = without_ranges(options_.shapes).entries;
    request.header.machine = machine_print();
    request.header.accuracy = to_string(options_.output_bound());
    request.header.passes_off = options_.passes_off;
    request.header.threads = options_.threads;
    request.header.shipped = name;
    COLLAGE_TRY(RealisedPlan plan, assemble(request, registry_));
    return GenericPlan{name, std::move(plan)};
  }

 private:
  const OpenModel& model_;
  const TuneOptions& options_;
  Registry& registry_;
  WorkerProcess& worker_;
  const WorkFolder& folder_;
};

/// The engines that may take part, the filler when none of those asked for is one; then who compiles open regions.
std::vector<std::string> backends_for_open_regions(const TuneOptions& options, Registry& registry) {
  std::vector<std::string> engines;
  for (const std::string& name : options.backends) {
    const auto backend = registry.get(name);
    if (backend && (*backend)->info().is_engine && (*backend)->info().unusable.empty()) engines.push_back(name);
  }
  if (engines.empty()) engines.emplace_back(kFillerEngine);
  for (const std::string& name : options.backends) {
    const auto backend = registry.get(name);
    if (backend && extension_of<OpenCompiler>(**backend) != nullptr && (*backend)->info().unusable.empty())
      engines.push_back(name);
  }
  return engines;
}

}  // namespace

Result<OpenModel> import_open(const TuneOptions& options, const ShapeDomain& domain, Registry& registry,
                              WorkerProcess& worker, const WorkFolder& folder) {
  ImportOptions import_options{.shapes = without_ranges(options.shapes), .allow_unbound = true};
  ask_vendors(import_options, registry, options.backends);
  ask_types_in(import_options, worker, folder);
  import_options.wants_file = false;
  COLLAGE_TRY(Imported imported, import_apart(options.model, import_options, options.reader));
  COLLAGE_TRY_VOID(refuse_input_ranges(domain, imported.graph));
  OpenModel model{
      .graph = std::move(imported.graph), .model_hash = imported.model_hash, .inputs = {}, .domain = domain};
  std::vector<ValueType> types;
  for (const ValueId input : model.graph.inputs) {
    model.inputs.push_back({model.graph.value(input).name, model.graph.value(input).type});
    types.push_back(model.inputs.back().type);
  }
  COLLAGE_TRY_VOID(check_inputs_tell(domain, types));
  for (const CaseInput& input : model.inputs) COLLAGE_TRY_VOID(refuse_unbound(domain, input));
  return model;
}

Result<std::vector<GenericPlan>> make_generic_plans(const OpenModel& model, const TuneOptions& options,
                                                    std::size_t most, Registry& registry, WorkerProcess& worker,
                                                    const WorkFolder& folder, std::vector<std::string>& notes) {
  const GenericMaker maker(model, options, registry, worker, folder);
  const std::string imported_file = folder.file("open.onnx");
  COLLAGE_TRY(const ConstantPlaces constants, write_graph_file(imported_file, model.graph));
  const auto simplified = simplify(model.graph, {.accuracy = options.accuracy, .off = options.passes_off}, {});
  const std::string simplified_file = folder.file("open-simplified.onnx");
  if (simplified) COLLAGE_TRY_VOID(write_graph_file(simplified_file, simplified->graph, constants));
  std::vector<GenericPlan> plans;
  const auto add = [&](Result<GenericPlan> made, const std::string& name) {
    if (made)
      plans.push_back(std::move(*made));
    else
      notes.push_back(name + " does not run this model with open dimensions: " + made.error().saw);
  };
  for (const std::string& engine : backends_for_open_regions(options, registry)) {
    if (plans.size() >= most) break;
    add(maker.make(engine, engine, model.graph, imported_file), engine);
    const std::string name = engine + " on the simplified graph";
    if (simplified && plans.size() < most) add(maker.make(name, engine, simplified->graph, simplified_file), name);
  }
  return plans;
}

}  // namespace collage
