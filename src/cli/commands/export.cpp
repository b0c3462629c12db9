#include "export/export_plan.h"

#include "api/tune/shape_choice.h"
#include "backend/registry.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "plan/file/cases_file.h"

namespace collage::cli {
namespace {

struct ExportCommand {
  CommonOptions common;
  LibraryOptions files;
};

int run_export(const ExportCommand& options) {
  Console console(options.common);
  const auto shown = [&]() -> Result<void> {
    COLLAGE_TRY(const Signers signers, signers_from(options.common.signer_files));
    COLLAGE_TRY(const PlanCases cases, load_cases(options.files.plan, Checked::kEverything, signers));
    COLLAGE_TRY(const ShapeBindings shapes, parse_shape_bindings(options.common.shapes));
    COLLAGE_TRY(const ShapePoint point, choose_point(cases, shapes, {}));
    COLLAGE_TRY(const RealisedPlan realised, plan_at(cases, point));
    Registry registry(module_places(options.common.backend_libraries));
    const BackendSource backends = [&](const std::string& name) { return registry.get(name); };
    COLLAGE_TRY(const ExportReport report, export_plan(realised, backends, options.files));
    return console.result(to_text(report), to_json(report));
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_export(CLI::App& app, Program& program) {
  auto options = std::make_shared<ExportCommand>();
  CLI::App* command =
      add_command(app, program, "export", "make a library with C functions of a plan", options, run_export);
  command->add_option("plan", options->files.plan, "the plan file")->required();
  command->add_option("-o,--output", options->files.output, "the shared library to write")
      ->required()
      ->type_name("FILE");
  command->add_option("--header", options->files.header, "the header to write")->required()->type_name("FILE");
  command->add_option("--static", options->files.archive, "a static library to write, too")->type_name("FILE");
  command->add_option("--name", options->files.name, "what the names of the C functions begin with")
      ->option_text("NAME (default: from the library's name)");
  add_shape(*command, options->common, "which shape of a plan for many: DIM=8; repeatable");
  add_require_signature(*command, options->common);
  command->footer(examples({"collage export model.collage -o libmodel.so --header model.h",
                            "collage export model.collage -o libdet.so --header det.h --static libdet.a --name det"}));
}

}  // namespace collage::cli
