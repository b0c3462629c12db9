#include "api/tune/verify.h"

#include "cli/checks.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct VerifyCommand {
  CommonOptions common;
  VerifyOptions verify;
  std::string model;
};

int run_verify(const VerifyCommand& options) {
  Console console(options.common);
  const auto report = [&]() -> Result<VerifyReport> {
    VerifyOptions verify_options = options.verify;
    if (!options.model.empty()) verify_options.model = options.model;
    verify_options.seed = options.common.seed;
    COLLAGE_TRY(verify_options.shapes, parse_shape_bindings(options.common.shapes));
    COLLAGE_TRY(verify_options.input_ranges, input_ranges_from(options.common.input_ranges, label("--input-range")));
    COLLAGE_TRY(verify_options.signers, signers_from(options.common.signer_files));
    COLLAGE_TRY(verify_options.reader, model_reader(options.common));
    Registry registry(module_places(options.common.backend_libraries));
    return verify_plan(verify_options, registry);
  }();
  if (!report) return console.failure(report.error());
  const ExitCode code = report->ok ? ExitCode::kGood : ExitCode::kDifference;
  if (auto shown = console.result(to_text(*report), to_json(*report), code); !shown)
    return console.failure(shown.error());
  return static_cast<int>(code);
}

}  // namespace

void add_verify(CLI::App& app, Program& program) {
  auto options = std::make_shared<VerifyCommand>();
  CLI::App* command = add_command(app, program, "verify", "compare a plan with the reference", options, run_verify);
  command->add_option("plan", options->verify.plan, "the plan file")->required();
  command->add_option("--seeds", options->verify.seeds, "how many input sets to try")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--model", options->model, "the model, when it is not where the plan says")->type_name("FILE");
  add_shape(*command, options->common, kOneShape);
  add_input_range(*command, options->common);
  add_seed(*command, options->common);
  add_backend_library(*command, options->common);
  add_custom_ops(*command, options->common);
  add_reader(*command, options->common);
  add_require_signature(*command, options->common);
  command->footer(examples({"collage verify model.collage --seeds 3",
                            "collage verify model.collage --shape batch=3     of a plan for many shapes"}));
}

}  // namespace collage::cli
