#include "tune/vendor_operators.h"

#include <chrono>

#include "backend/extensions/operator_library.h"
#include "backend/roles.h"
#include "base/file.h"
#include "tune/proposers.h"

namespace collage {
namespace {

using Types = std::map<std::string, ValueType>;

/// Time for a library to load and to run three times.
constexpr std::chrono::seconds kPatience{120};

Result<Types> types_here(Registry& registry, const std::string& model) {
  const auto engine = registry.get(kReferenceEngine);
  auto* const libraries = engine ? extension_of<OperatorLibraryExtension>(**engine) : nullptr;
  if (libraries == nullptr) return Types();
  return libraries->output_types(model);
}

/// What no backend takes the filler runs, and it has operators of its own where libraries are named.
bool has_libraries(Registry& registry) {
  const auto engine = registry.get(kFillerEngine);
  return engine && own_build((*engine)->info().build) != (*engine)->info().build;
}

Result<Json> run_vendor_types(const Json& job, JobContext& context) {
  COLLAGE_TRY(const std::string file,
              read_json("vendor-types job", [&] { return job.at("model").get<std::string>(); }));
  COLLAGE_TRY(const Buffer bytes, Buffer::map_file(file));
  context.begin("types", 0);
  COLLAGE_TRY(const Types types, types_here(context.registry(), std::string(bytes.text())));
  Json answer = Json::object();
  for (const auto& [name, type] : types) answer[name] = to_string(type);
  return answer;
}

Result<Types> types_from(const Json& answer) {
  Types types;
  for (const auto& [name, text] : answer.items())
    if (const auto type = parse_value_type(text.get<std::string>())) types[name] = *type;
  return types;
}

Result<Types> types_of_worker(WorkerProcess& worker, const std::string& file) {
  const Json job = {{"type", "vendor-types"}, {"model", file}};
  const auto outcome = worker.call(job, [](const std::optional<JobProgress>&) { return kPatience; }, {});
  if (!outcome)
    return fail(ExitCode::kUnsupported, "operators/failed", "a run of the model's custom operators",
                outcome.error().refusal.detail, "a library that runs");
  if (!*outcome) return std::unexpected(outcome->error());
  return types_from(**outcome);
}

}  // namespace

void ask_vendors(ImportOptions& options, Registry& registry, std::vector<std::string> instances) {
  options.knows_vendor_operator = [&registry, instances = std::move(instances)](std::string_view domain,
                                                                                std::string_view op) {
    if (knows_vendor_operator(registry, instances, domain, op)) return true;
    const std::string filler = kFillerEngine;
    return has_libraries(registry) && knows_vendor_operator(registry, {&filler, 1}, domain, op);
  };
  // An engine may die of a file from elsewhere; libraries are code that the user trusts.
  options.vendor_types = [&registry](const std::string& model) {
    return has_libraries(registry) ? types_here(registry, model) : Types();
  };
}

void ask_types_in(ImportOptions& options, WorkerProcess& worker, const WorkFolder& folder) {
  options.vendor_types = [&worker, &folder](const std::string& model) -> Result<Types> {
    const std::string file = folder.file("vendor.onnx");
    COLLAGE_TRY_VOID(write_file(file, model));
    return types_of_worker(worker, file);
  };
}

Handler vendor_types_handler() { return {.type = "vendor-types", .run = run_vendor_types}; }

}  // namespace collage
