#include "tune/verify.h"

#include "cli/console.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct Options {
  CommonOptions common;
  VerifyOptions verify;
  std::string model;
};

int run(const Options& options) {
  Console console(options.common);
  const auto report = [&]() -> Result<VerifyReport> {
    VerifyOptions verify_options = options.verify;
    if (!options.model.empty()) verify_options.model = options.model;
    verify_options.seed = options.common.seed;
    COLLAGE_TRY(verify_options.shapes, parse_shape_bindings(options.common.shapes));
    COLLAGE_TRY(verify_options.input_ranges, input_ranges_from(options.common));
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
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, program, "verify", "compare a plan with the reference", options, run);
  command->add_option("plan", options->verify.plan, "the plan file")->required();
  command->add_option("--seeds", options->verify.seeds, "how many input sets to try")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--model", options->model, "the model, when it is not where the plan says");
}

}  // namespace collage::cli
