#include "plan/explain/explain.h"

#include "api/tune/shape_choice.h"
#include "backend/registry.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "plan/explain/explain_cases.h"
#include "plan/explain/why_not.h"
#include "plan/file/cases_file.h"

namespace collage::cli {
namespace {

struct ExplainCommand {
  CommonOptions common;
  std::string plan;
  std::string node;
  std::string why_not;
};

int run_explain(const ExplainCommand& options) {
  Console console(options.common);
  const auto shown = [&]() -> Result<void> {
    COLLAGE_TRY(const PlanCases cases, load_cases(options.plan));
    COLLAGE_TRY(const ShapeBindings shapes, parse_shape_bindings(options.common.shapes));
    const bool is_about_all = shapes.entries.empty() && options.node.empty() && options.why_not.empty();
    if (!cases.domain.dimensions.empty() && is_about_all)
      return console.result(explain_as_text(cases), explain_as_json(cases));
    COLLAGE_TRY(const ShapePoint point, choose_point(cases, shapes, {}));
    COLLAGE_TRY(const RealisedPlan realised, plan_at(cases, point));
    if (!options.why_not.empty()) {
      const std::vector<std::string> kinds = Registry(module_places(options.common.backend_libraries)).kinds();
      COLLAGE_TRY(const WhyNotQuestion question, parse_why_not(realised.plan, options.why_not, kinds));
      COLLAGE_TRY(const std::string answer, why_not_as_text(realised.plan, question));
      COLLAGE_TRY(const std::string data, why_not_as_json(realised.plan, question));
      return console.result(answer, data);
    }
    COLLAGE_TRY(const std::string text, explain_as_text(realised.plan, options.node));
    COLLAGE_TRY(const std::string json, explain_as_json(realised.plan, options.node));
    return console.result(text, json);
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_explain(CLI::App& app, Program& program) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command =
      add_command(app, program, "explain", "who runs what, why, and what came second", options, run_explain);
  command->add_option("plan", options->plan, "the plan file")->required();
  auto* node = command
                   ->add_option("--node", options->node,
                                "only the steps that compute these nodes, what others offered for them and refused")
                   ->type_name("GLOB");
  command->add_option("--why-not", options->why_not, "why this backend does not run this node")
      ->option_text("NODE=BACKEND")
      ->excludes(node);
  add_shape(*command, options->common, "which shape of a plan for many: DIM=8; repeatable");
  command->footer(examples({"collage explain model.collage", "collage explain model.collage --node Conv_3",
                            "collage explain model.collage --why-not Conv_3=onednn"}));
}

}  // namespace collage::cli
