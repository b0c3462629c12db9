#include "plan/diff/plan_diff.h"

#include <fmt/format.h>

#include "api/tune/page/diff_page.h"
#include "api/tune/shape_choice.h"
#include "base/file.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "plan/file/cases_file.h"

namespace collage::cli {
namespace {

struct DiffCommand {
  CommonOptions common;
  std::string a, b;  ///< plan files
  std::string page;  ///< file to write; empty = none
};

Result<RealisedPlan> plan_in(const std::string& file, const ShapeBindings& shapes) {
  COLLAGE_TRY(const PlanCases cases, load_cases(file));
  COLLAGE_TRY(const ShapePoint point, choose_point(cases, shapes, {}));
  return plan_at(cases, point);
}

int run_diff(const DiffCommand& options) {
  Console console(options.common);
  const auto shown = [&]() -> Result<void> {
    COLLAGE_TRY(const ShapeBindings shapes, parse_shape_bindings(options.common.shapes));
    COLLAGE_TRY(const RealisedPlan a, plan_in(options.a, shapes));
    COLLAGE_TRY(const RealisedPlan b, plan_in(options.b, shapes));
    COLLAGE_TRY(const PlanDiff diff,
                diff_plans({.name = options.a, .plan = &a.plan}, {.name = options.b, .plan = &b.plan}));
    if (options.page.empty()) return console.result(to_text(diff), to_json(diff));
    const std::string page = diff_page(diff);
    COLLAGE_TRY_VOID(write_file(options.page, page));
    return console.result(fmt::format("{}: {:.0f} kB\n", options.page, static_cast<double>(page.size()) / 1000),
                          to_json(diff));
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_diff(CLI::App& app, Program& program) {
  auto options = std::make_shared<DiffCommand>();
  CLI::App* command = add_command(app, program, "diff",
                                  "which parts two plans of one model run otherwise, and the time", options, run_diff);
  command->add_option("a", options->a, "a plan file")->required();
  command->add_option("b", options->b, "another plan of the same model: of another machine, version or budget")
      ->required();
  command->add_option("--html", options->page, "write the comparison as a page to look at, in place of the text")
      ->type_name("FILE");
  add_shape(*command, options->common, "which shape of plans for many: DIM=8; repeatable");
  command->footer(examples(
      {"collage diff before.collage after.collage", "collage diff before.collage after.collage --html diff.html"}));
}

}  // namespace collage::cli
