#include "api/tune/unmeasured.h"

#include "backend/held_value.h"
#include "sandbox/import_model.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/whole_model.h"
#include "tune/vendor_operators.h"

namespace collage {

Result<RealisedPlan> unmeasured_plan(const UnmeasuredOptions& options, Registry& registry) {
  ImportOptions import_options;
  import_options.shapes = options.shapes;
  import_options.wants_file = false;
  ask_vendors(import_options, registry, {options.engine});
  const std::string& name = options.model_name.empty() ? options.model : options.model_name;
  COLLAGE_TRY(const Imported imported, import_apart(options.model, import_options, options.reader, options.arrays));
  COLLAGE_TRY(Backend * engine, registry.get(options.engine));
  const Cover cover = whole_cover(imported.graph, options.engine);
  CompileRequest request;
  request.graph = &imported.graph;
  request.region = *chosen_region(cover.steps.front());
  request.variant = *chosen_variant(cover.steps.front());
  if (const auto held = refuse_held_ports(*engine, imported.graph, request.region))
    return fail(ExitCode::kUnsupported, "engine/refused", name, held->detail, "a model " + options.engine + " takes");
  auto compiled = engine->compile({&request, 1}, {.threads = options.threads, .accuracy = Accuracy::kStandard});
  if (!compiled.front())
    return fail(ExitCode::kUnsupported, "engine/refused", name, compiled.front().error().detail,
                "a model " + options.engine + " takes");
  AssembleRequest assembly;
  assembly.graph = &imported.graph;
  assembly.cover = &cover;
  assembly.artifacts.push_back(std::move(*compiled.front()));
  assembly.header.model_path = name;
  assembly.header.model_hash = imported.model_hash;
  assembly.header.shapes = options.shapes.entries;
  assembly.header.threads = options.threads;
  assembly.header.shipped = options.engine;
  return assemble(assembly, registry);
}

}  // namespace collage
