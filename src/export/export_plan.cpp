#include "export/export_plan.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_numbers.h"
#include "export/c_names.h"
#include "export/exportable.h"
#include "export/library_text.h"
#include "export/link_library.h"
#include "export/slim_plan.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

/// "libdet.so" -> "det".
std::string name_of_file(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  if (name.starts_with("lib")) name.erase(0, 3);
  return c_identifier(name.substr(0, name.find('.')));
}

Result<std::string> name_for(const LibraryOptions& options) {
  if (options.name.empty()) return name_of_file(options.output);
  std::string name = c_identifier(options.name);
  if (name == options.name) return name;
  return fail(ExitCode::kUsage, "export/bad-name", "--name", options.name,
              fmt::format("a C identifier in lower case, such as {}", name));
}

Result<void> check_files(const LibraryOptions& files) {
  const auto refuse = [](const std::string& path) {
    return fail(ExitCode::kUsage, "export/same-file", path, "the path of two files to write", "a path for each");
  };
  if (files.header == files.output) return refuse(files.header);
  if (!files.archive.empty() && (files.archive == files.output || files.archive == files.header))
    return refuse(files.archive);
  return {};
}

}  // namespace

Result<ExportReport> export_plan(const RealisedPlan& plan, const BackendSource& backends,
                                 const LibraryOptions& options) {
  COLLAGE_TRY_VOID(check_files(options));
  COLLAGE_TRY_VOID(check_exportable(plan.plan, backends, options.plan));
  COLLAGE_TRY(const std::string name, name_for(options));
  COLLAGE_TRY(const std::string archives, archive_folder());
  const SlimPlan slim = slim_plan(plan);
  COLLAGE_TRY(const LinkedParts parts, linked_parts(slim.plan, backends));
  COLLAGE_TRY_VOID(verify(parts.plan.plan));
  const LibraryParts to_link{.parts = &parts,
                             .weights = slim.weights,
                             .name = name,
                             .file_name = fs::path(options.output).filename().string(),
                             .archive_folder = archives};
  // Nothing is written before all is made: a library and a header of different plans do not fit together.
  COLLAGE_TRY(const LinkedLibrary library, link_library(to_link, !options.archive.empty()));
  COLLAGE_TRY_VOID(write_file_durably(options.output, {{library.shared.text()}}));
  if (!options.archive.empty()) COLLAGE_TRY_VOID(write_file_durably(options.archive, {{library.archive.text()}}));
  COLLAGE_TRY_VOID(write_file_durably(options.header, {{header_text(parts.plan.plan, name)}}));
  ExportReport report{.name = name, .files = options};
  report.library_bytes = library.shared.size();
  report.weights_bytes = slim.weights.size();
  report.workspace_bytes = workspace_layout(parts.plan.plan).bytes;
  report.steps = step_count(plan.plan);
  report.threads = plan.plan.threads;
  return report;
}

std::string to_text(const ExportReport& report) {
  std::string text = fmt::format("{}: {} bytes, of these {} weights; {} steps, {} thread{}\n", report.files.output,
                                 report.library_bytes, report.weights_bytes, report.steps, report.threads,
                                 report.threads == 1 ? "" : "s");
  if (!report.files.archive.empty()) text += fmt::format("{}: the same as an archive\n", report.files.archive);
  return text + fmt::format("{}: {}_init, {}_run and others; a workspace has {} bytes\n", report.files.header,
                            report.name, report.name, report.workspace_bytes);
}

std::string to_json(const ExportReport& report) {
  nlohmann::ordered_json out = {{"schema", "collage.export/1"},
                                {"name", report.name},
                                {"library", report.files.output},
                                {"header", report.files.header},
                                {"library_bytes", report.library_bytes},
                                {"weights_bytes", report.weights_bytes},
                                {"workspace_bytes", report.workspace_bytes},
                                {"steps", report.steps},
                                {"threads", report.threads}};
  if (!report.files.archive.empty()) out["archive"] = report.files.archive;
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace collage
