#include "api/tune/explain_plan.h"
#include "api/tune/store_place.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct ExplainCommand {
  CommonOptions common;
  ExplainOptions explain;
  // Paths of files to write; empty = none.
  std::string page;
  std::string dot;
  std::string onnx;
  bool measures = false;
  std::string model;  ///< of --measure; empty = as in the plan
  std::string budget = "60s";
  CLI::App* command = nullptr;

  [[nodiscard]] bool writes() const { return !page.empty() || !dot.empty() || !onnx.empty(); }
};

/// A line for each file written.
Result<std::string> write_files(const ExplainCommand& options, const ExplainReport& report) {
  std::string text;
  for (const auto& [path, made] : {std::pair<const std::string&, std::string_view>(options.page, report.page),
                                   {options.dot, report.dot},
                                   {options.onnx, report.onnx}}) {
    if (path.empty()) continue;
    COLLAGE_TRY_VOID(write_file(path, made));
    text += fmt::format("{}: {:.0f} kB\n", path, static_cast<double>(made.size()) / 1000);
  }
  return text;
}

Result<MeasureWhatIfOptions> measuring(const ExplainCommand& options, Console& console) {
  COLLAGE_TRY(const double budget_s, seconds_from(options.budget, "--budget"));
  COLLAGE_TRY(std::vector<std::string> worker, worker_command(options.common.backend_libraries));
  COLLAGE_TRY(ModelReader reader, model_reader(options.common));
  return MeasureWhatIfOptions{.plan = options.explain.plan,
                              .model = options.model.empty() ? std::nullopt : std::optional(options.model),
                              .store = store_place(options.common.store),
                              .worker_command = std::move(worker),
                              .reader = std::move(reader),
                              .budget_s = budget_s,
                              .progress = console.progress(),
                              .stop = interrupt_token()};
}

int run_explain(const ExplainCommand& options) {
  Console console(options.common);
  auto report = [&]() -> Result<ExplainReport> {
    ExplainOptions asked = options.explain;
    asked.wants_page = !options.page.empty();
    asked.wants_dot = !options.dot.empty();
    asked.wants_onnx = !options.onnx.empty();
    COLLAGE_TRY(asked.shapes, parse_shape_bindings(options.common.shapes));
    if (options.measures) {
      COLLAGE_TRY(asked.measure, measuring(options, console));
    } else {
      COLLAGE_TRY_VOID(refuse_given(*options.command, {"--budget", "--store", "--model", "--limit", "--trust"},
                                    "nothing is timed without --measure"));
    }
    COLLAGE_TRY(asked.signers, signers_from(options.common.signer_files));
    if (asked.measure) asked.measure->signers = asked.signers;
    Registry registry(module_places(options.common.backend_libraries));
    return explain_plan(asked, registry);
  }();
  if (!report) return console.failure(report.error());
  if (options.writes()) {
    auto written = write_files(options, *report);
    if (!written) return console.failure(written.error());
    report->text = *std::move(written);
  }
  if (auto shown = console.result(report->text, report->json); !shown) return console.failure(shown.error());
  return static_cast<int>(ExitCode::kGood);
}

}  // namespace

void add_explain(CLI::App& app, Program& program) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command =
      add_command(app, program, "explain", "who runs what, why, and what came second", options, run_explain);
  command->add_option("plan", options->explain.plan, "the plan file")->required();
  auto* node = command
                   ->add_option("--node", options->explain.node,
                                "only the steps that compute these nodes, what others offered for them and refused")
                   ->type_name("GLOB");
  command->add_option("--why-not", options->explain.why_not, "why this backend does not run this node")
      ->option_text("NODE=BACKEND")
      ->excludes(node);
  auto* what_if =
      command
          ->add_option("--what-if", options->explain.what_if,
                       "what the best cover would cost if this backend ran this node, from the plan's own costs; "
                       "repeatable")
          ->allow_extra_args(false)
          ->option_text("NODE=BACKEND[/VARIANT]")
          ->excludes(node)
          ->excludes("--why-not");
  command->add_flag("--measure", options->measures, "make that plan and time it against this one")->needs(what_if);
  command->add_option("--budget", options->budget, "of --measure: time for measuring what the store does not know")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--model", options->model, "of --measure: where the model lies now, if not where it was tuned")
      ->type_name("FILE");
  add_store(*command, options->common);
  add_reader(*command, options->common);
  options->command = command;
  command->add_option("--html", options->page, "write the plan as a page to look at, in place of the text")
      ->type_name("FILE")
      ->excludes("--why-not")
      ->excludes(what_if);
  command->add_option("--dot", options->dot, "write the steps as a graph for Graphviz, in place of the text")
      ->type_name("FILE")
      ->excludes("--why-not")
      ->excludes(what_if);
  command
      ->add_option(
          "--onnx", options->onnx,
          "write the plan's graph as a model to look at, in place of the text: the metadata of a node says who "
          "runs it; large weights stay in the plan")
      ->type_name("FILE")
      ->excludes("--why-not")
      ->excludes(what_if);
  add_shape(*command, options->common, "which shape of a plan for many: DIM=8; repeatable");
  add_require_signature(*command, options->common);
  command->footer(examples({"collage explain model.collage", "collage explain model.collage --node Conv_3",
                            "collage explain model.collage --why-not Conv_3=onednn",
                            "collage explain model.collage --what-if Conv_3=onednn --measure",
                            "collage explain model.collage --html model.html",
                            "collage explain model.collage --dot model.dot --onnx model.onnx"}));
}

}  // namespace collage::cli
