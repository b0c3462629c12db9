#include "sandbox/import_job.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/mapped_descriptor.h"
#include "sandbox/import_file.h"
#include "worker/confine.h"

namespace collage {
namespace {

Result<ModelFile> file_of(const ImportJob& job) {
  if (!job.has_bytes) return read_model_file(job.path, ModelBytes::kMapped);
  COLLAGE_TRY(const Buffer bytes, map_descriptor(kBytesFile, job.path));
  return ModelFile{.path = job.path, .bytes = {}, .mapped = bytes, .folders = model_folders(job.path)};
}

/// What this kernel has not, for the notes of the import.
void tell_what_is_missing(const Confinement& confinement, std::vector<std::string>& notes) {
  if (!confinement.calls)
    notes.emplace_back(
        "this kernel filters no system calls: the process that read the model had the rights of this one");
  else if (!confinement.files)
    notes.emplace_back(
        "this kernel has no Landlock: the process that read the model could read files outside its folder");
}

/// Asks the program whether it knows an operator, once each. A program that is gone gets no answer either.
class Vendors {
 public:
  explicit Vendors(JobContext& context) : context_(context) {}

  bool knows(std::string_view domain, std::string_view op) {
    const auto [known, is_new] = known_.try_emplace({std::string(domain), std::string(op)});
    if (is_new) {
      const auto said = context_.ask({{"operator", {{"domain", domain}, {"op", op}}}});
      known->second = said && said->is_boolean() && said->get<bool>();
    }
    return known->second;
  }

  /// The model lies at the end of the result's file, which is written only afterwards.
  Result<std::map<std::string, ValueType>> types(const std::string& model) {
    if (::pwrite(kResultFile, model.data(), model.size(), 0) != static_cast<ssize_t>(model.size()))
      return fail(ExitCode::kLimit, "sandbox/cannot-write", "model", "a failed write", "room in memory");
    COLLAGE_TRY(const Json said, context_.ask({{"types", model.size()}}));
    return read_json("types", [&] {
      std::map<std::string, ValueType> types;
      for (const auto& [name, text] : said.items())
        if (const auto type = parse_value_type(text.get<std::string>())) types[name] = *type;
      return types;
    });
  }

 private:
  JobContext& context_;
  std::map<std::pair<std::string, std::string>, bool> known_;
};

Result<Json> run_import(const Json& json, JobContext& context) {
  COLLAGE_TRY(ImportJob job, import_job_from(json));
  COLLAGE_TRY(const ModelFile file, file_of(job));
  std::vector<std::string> readable = {file.folders.named};
  if (!file.folders.real.empty()) readable.push_back(file.folders.real);
  const Confinement confinement = confine_process(readable);
  context.begin("import", -1);
  Vendors vendors(context);
  if (job.knows_vendors)
    job.options.knows_vendor_operator = [&](std::string_view domain, std::string_view op) {
      return vendors.knows(domain, op);
    };
  if (job.has_types) job.options.vendor_types = [&](const std::string& model) { return vendors.types(model); };
  COLLAGE_TRY(Imported imported, import_read(file, job.options, job.arrays));
  tell_what_is_missing(confinement, imported.notes);
  COLLAGE_TRY_VOID(write_import(kResultFile, imported));
  return Json::object();
}

}  // namespace

Json to_json(const ImportLimits& limits) {
  Json json = Json::object();
  for (const ImportLimit& limit : import_limits()) json[std::string(limit.name)] = limits.*limit.value;
  return json;
}

ImportLimits import_limits_from(const Json& json) {
  ImportLimits limits;
  for (const ImportLimit& limit : import_limits())
    limits.*limit.value = json.at(std::string(limit.name)).get<std::uint64_t>();
  return limits;
}

Json to_json(const ImportJob& job) {
  return {{"type", "import"},
          // Names of files may be any bytes, text in JSON may not.
          {"path", std::vector<std::uint8_t>(job.path.begin(), job.path.end())},
          {"shapes", job.options.shapes.entries},
          {"allow_unbound", job.options.allow_unbound},
          {"wants_file", job.options.wants_file},
          {"limits", to_json(job.options.limits)},
          {"arrays", job.arrays},
          {"has_bytes", job.has_bytes},
          {"knows_vendors", job.knows_vendors},
          {"has_types", job.has_types}};
}

Result<ImportJob> import_job_from(const Json& json) {
  return read_json("import job", [&] {
    ImportJob job;
    for (const auto byte : json.at("path").get<std::vector<std::uint8_t>>()) job.path += static_cast<char>(byte);
    job.options.shapes.entries = json.at("shapes").get<std::map<std::string, std::string>>();
    job.options.allow_unbound = json.at("allow_unbound").get<bool>();
    job.options.wants_file = json.at("wants_file").get<bool>();
    job.options.limits = import_limits_from(json.at("limits"));
    job.arrays = json.at("arrays").get<ArrayShapes>();
    job.has_bytes = json.at("has_bytes").get<bool>();
    job.knows_vendors = json.at("knows_vendors").get<bool>();
    job.has_types = json.at("has_types").get<bool>();
    return job;
  });
}

Handler import_handler() { return {.type = "import", .run = run_import}; }

}  // namespace collage
