#include "api/tune/recheck.h"

#include "cli/console.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct RecheckCommand {
  CommonOptions common;
  RecheckOptions recheck;
  std::string model;
};

/// A plan whose numbers differ, or that others are likely to beat here, is a difference found.
ExitCode exit_code_of(const RecheckReport& report) {
  switch (report.fitness) {
    case Fitness::kSame:
    case Fitness::kUsable:
      return ExitCode::kGood;
    case Fitness::kRetune:
      return ExitCode::kDifference;
    case Fitness::kRefused:
      return report.cannot_run ? ExitCode::kUnsupported : ExitCode::kDifference;
  }
  return ExitCode::kBug;
}

int run_recheck(const RecheckCommand& options) {
  Console console(options.common);
  const auto report = [&]() -> Result<RecheckReport> {
    RecheckOptions asked = options.recheck;
    COLLAGE_TRY(asked.worker_command, worker_command(options.common.backend_libraries));
    if (!options.model.empty()) asked.model = options.model;
    asked.seed = options.common.seed;
    COLLAGE_TRY(asked.reader, model_reader(options.common));
    asked.stop = interrupt_token();
    COLLAGE_TRY(asked.signers, signers_from(options.common.signer_files));
    Registry registry(module_places(options.common.backend_libraries));
    return recheck(asked, registry);
  }();
  if (!report) return console.failure(report.error());
  const ExitCode code = exit_code_of(*report);
  if (auto shown = console.result(to_text(*report), to_json(*report), code); !shown)
    return console.failure(shown.error());
  return static_cast<int>(code);
}

}  // namespace

void add_recheck(CLI::App& app, Program& program) {
  auto options = std::make_shared<RecheckCommand>();
  CLI::App* command =
      add_command(app, program, "recheck", "whether a plan still fits this machine", options, run_recheck);
  command->add_option("plan", options->recheck.plan, "the plan file")->required();
  command->add_option("--model", options->model, "the model, when it is not where the plan says")->type_name("FILE");
  command->add_flag("--force", options->recheck.always, "measure also when machine and builds are those of the tune");
  add_seed(*command, options->common);
  add_reader(*command, options->common);
  add_backend_library(*command, options->common);
  add_custom_ops(*command, options->common);
  add_require_signature(*command, options->common);
  command->footer(examples({"collage recheck model.collage --force"}));
}

}  // namespace collage::cli
