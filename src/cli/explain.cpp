#include "plan/explain.h"

#include "cli/console.h"
#include "cli/program.h"
#include "plan/plan_file.h"

namespace collage::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string plan;
  std::string node;
};

int run(const Options& options) {
  Console console(options.common);
  const auto shown = [&]() -> Result<void> {
    COLLAGE_TRY(const RealisedPlan realised, load_plan(options.plan));
    COLLAGE_TRY(const std::string text, explain_as_text(realised.plan, options.node));
    COLLAGE_TRY(const std::string json, explain_as_json(realised.plan, options.node));
    return console.result(text, json);
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_explain(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, program, "explain", "who runs what, why, and what came second", options, run);
  command->add_option("plan", options->plan, "the plan file")->required();
  command->add_option("--node", options->node, "only the step that computes this node, and who refused it");
}

}  // namespace collage::cli
