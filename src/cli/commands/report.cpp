#include <string_view>

#include "api/tune/page/list_page.h"
#include "api/tune/plan_list.h"
#include "base/file.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct ReportCommand {
  CommonOptions common;
  std::vector<std::string> paths;
  std::string page;  ///< path of the page to write; empty = none
  std::string csv;   ///< likewise of the table
};

int run_list(const ReportCommand& options) {
  Console console(options.common);
  const auto shown = [&]() -> Result<void> {
    COLLAGE_TRY(const PlanList list, list_plans(options.paths));
    if (!options.page.empty()) COLLAGE_TRY_VOID(write_file(options.page, list_page(list)));
    if (!options.csv.empty()) COLLAGE_TRY_VOID(write_file(options.csv, to_csv(list)));
    return console.result(to_text(list), to_json(list));
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_report(CLI::App& app, Program& program) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* command = add_command(app, program, "report", "what the plans in a folder gain", options, run_list);
  command->add_option("paths", options->paths, "plan files, or folders with plans")->required();
  command->add_option("--html", options->page, "write the table as a page to sort and search")->type_name("FILE");
  command->add_option("--csv", options->csv, "write the table as comma-separated values")->type_name("FILE");
  command->footer(examples({"collage report plans", "collage report plans --html plans.html --csv plans.csv"}));
}

}  // namespace collage::cli
