#include <algorithm>

#include "api/tune/bench_plot.h"
#include "api/tune/bench_shapes.h"
#include "api/tune/plan_origin.h"
#include "api/tune/recheck.h"
#include "base/file.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"

#include "cli/checks.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct BenchCommand {
  CommonOptions common;
  BenchOptions bench;
  std::string model;
  std::vector<std::string> rivals;
  std::string plot;  ///< path of the picture to write; empty = none
  CLI::App* command = nullptr;
};

/// What is wrong with a plan that cannot be loaded, the bench says.
void say_whether_from_elsewhere(const std::string& path, const Signers& signers, Registry& registry, Console& console) {
  if (!is_plan_file(path)) return;
  const auto cases = load_cases(path, Checked::kWhatRuns, signers);
  if (!cases) return;
  if (const std::string note = origin_note(path, *cases); !note.empty()) console.note(note);
  if (const std::string hint = recheck_hint(path, any_plan(*cases).plan, registry); !hint.empty()) console.note(hint);
}

int run_bench(const BenchCommand& options) {
  Console console(options.common);
  const auto report = [&]() -> Result<std::vector<BenchReport>> {
    BenchOptions bench_options = options.bench;
    if (!options.model.empty()) bench_options.model = options.model;
    if (is_given(*options.command, "--threads")) bench_options.threads = options.common.threads;
    bench_options.seed = options.common.seed;
    COLLAGE_TRY(bench_options.shapes, parse_shape_bindings(options.common.shapes));
    COLLAGE_TRY(bench_options.input_ranges, input_ranges_from(options.common.input_ranges, label("--input-range")));
    bench_options.progress = console.progress();
    bench_options.stop = interrupt_token();
    for (const std::string& rival : options.rivals) {
      COLLAGE_TRY(RivalCommand command, parse_rival(rival, label("--rival")));
      bench_options.programs.push_back(std::move(command));
    }
    COLLAGE_TRY(bench_options.reader, model_reader(options.common));
    Registry registry(module_places(options.common.backend_libraries));
    if (is_given(*options.command, "--against")) COLLAGE_TRY_VOID(check_rivals(bench_options.against, registry));
    COLLAGE_TRY(bench_options.signers, signers_from(options.common.signer_files));
    bench_options.rival_signers = bench_options.signers;
    say_whether_from_elsewhere(bench_options.plan, bench_options.signers, registry, console);
    return bench_shapes(bench_options, registry);
  }();
  if (!report) return console.failure(report.error());
  const bool is_wrong = std::ranges::any_of(*report, has_wrong_plan);
  const bool is_interrupted = !report->empty() && report->back().interrupted;
  const ExitCode code = is_wrong ? ExitCode::kDifference : ExitCode::kGood;
  const Outcome outcome = is_interrupted ? Outcome::kInterrupted : Outcome::kDone;
  if (auto shown = console.result(to_text(*report), to_json(*report), code, outcome); !shown)
    return console.failure(shown.error());
  if (!options.plot.empty()) {
    const std::string picture = plot_of(*report);
    if (auto written = write_file(options.plot, picture); !written) return console.failure(written.error());
  }
  return static_cast<int>(code);
}

}  // namespace

void add_bench(CLI::App& app, Program& program) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command =
      add_command(app, program, "bench", "time a plan or a model against whole-model engines", options, run_bench);
  options->command = command;
  command->add_option("plan", options->bench.plan, "a plan, or a .onnx model")->required();
  command->add_option("--against", options->bench.against, "engines, or other plans of the model, comma separated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("LIST");
  command
      ->add_option("--rival", options->rivals,
                   "a program that runs the model itself, as NAME=PROGRAM ARGUMENT...; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=COMMAND");
  command->add_option("--model", options->model, "the model, when it is not where the plan says")->type_name("FILE");
  command->add_option("--seconds", options->bench.seconds, "how long to measure")
      ->check(positive_number())
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--plot", options->plot, "write the times of all rounds as a picture, an SVG")->type_name("FILE");
  add_shape(*command, options->common, kOneShape);
  add_input_range(*command, options->common);
  add_seed(*command, options->common);
  add_threads(*command, options->common);
  add_backend_library(*command, options->common);
  add_custom_ops(*command, options->common);
  add_reader(*command, options->common);
  add_require_signature(*command, options->common);
  command->footer(examples({"collage bench model.collage --seconds 10",
                            "collage bench model.collage --against onnxruntime,other.collage",
                            "collage bench model.collage --plot times.svg",
                            "collage bench model.collage --rival 'mine=python3 mine.py'   docs/RIVALS.md",
                            "collage bench model.onnx --shape batch=4 --threads 2"}));
}

}  // namespace collage::cli
