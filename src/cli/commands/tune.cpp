#include "tune/tune.h"

#include <filesystem>

#include <fmt/ranges.h>

#include "api/tune/page/live_page.h"
#include "api/tune/page/plan_page.h"
#include "api/tune/store_place.h"
#include "base/json_numbers.h"
#include "cli/checks.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "plan/file/cases_file.h"
#include "serve/live_server.h"
#include "tune/report/rule_operators.h"
#include "tune/report/stage_dump.h"
#include "tune/shapes/tune_shapes.h"

namespace collage::cli {
namespace {

struct TuneCommand {
  CommonOptions common;
  std::string model;
  std::string output;
  std::string budget = "60s";
  std::string tune_budget = "0s";
  std::string cost_table;
  std::vector<std::string> ablations;
  bool measures_all = false;
  bool portable = false;
  std::string replay;
  std::string dump;
  std::string resume;
  std::vector<std::string> at;
  std::size_t points = 16;
  std::vector<std::string> bans;
  std::vector<std::string> pins;
  std::string rules;
  std::string deploy;
  std::int64_t memory_cap = 0;
  double memory_weight = 0;
  std::optional<int> live_port;  ///< --serve; 0 = any that is free
  CLI::App* command = nullptr;
};

/// The steps of the best cover, as --dump cover shows them; else a stage's value.
std::string stage_of(const TuneReport& report, const std::string& dump) {
  return dump == "cover" ? report.cover : report.stage;
}

/// The report with the stage asked for.
std::string json_of(const TuneReport& report, const std::string& dump) {
  if (dump.empty()) return to_json(report);
  auto object = nlohmann::ordered_json::parse(to_json(report));
  object[dump == "cover" ? "cover" : "dumped"] = stage_of(report, dump);
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<TuneOptions> tune_options(const TuneCommand& options, Console& console) {
  TuneOptions tune_options;
  COLLAGE_TRY_VOID(check_other_file(options.model, options.output, label("-o")));
  tune_options.model = options.model;
  tune_options.output = options.output;
  tune_options.replay = options.replay;
  tune_options.backends = options.common.backends;
  if (!options.common.only.empty()) tune_options.only = options.common.only;
  COLLAGE_TRY(tune_options.rules, node_rules_from(options.bans, options.pins));
  tune_options.required =
      required_backends(options.common.named_backends, options.common.library_kinds, tune_options.rules);
  if (!options.rules.empty()) {
    COLLAGE_TRY(tune_options.user_rules, read_user_rules(options.rules));
    COLLAGE_TRY_VOID(check_rule_operators(tune_options.user_rules));
  }
  constexpr double kMebibyte = 1024.0 * 1024.0;
  tune_options.objective = {.memory_cap = options.memory_cap, .ns_per_byte = options.memory_weight * 1000 / kMebibyte};
  tune_options.threads = options.common.threads;
  tune_options.for_library = options.deploy == "library";
  tune_options.cost_table = options.cost_table;
  tune_options.dump = options.dump;
  tune_options.resume = options.resume;
  tune_options.measures_all = options.measures_all;
  tune_options.portable = options.portable;
  tune_options.store = store_place(options.common.store);
  tune_options.repros = repro_place(options.common.store);
  tune_options.seed = options.common.seed;
  COLLAGE_TRY(tune_options.worker_command, worker_command(options.common.backend_libraries));
  COLLAGE_TRY(tune_options.shapes, parse_shape_bindings(options.common.shapes));
  COLLAGE_TRY(tune_options.bound, accuracy_from(options.common.accuracy, label("--accuracy")));
  tune_options.accuracy = tune_options.bound->accuracy;
  const auto ablations = ablations_from(options.ablations);
  if (!ablations)
    return bad_option(label("--ablate"), fmt::format("{}", fmt::join(options.ablations, ",")), ablations.error());
  tune_options.ablations = *ablations;
  COLLAGE_TRY(tune_options.reader, model_reader(options.common));
  COLLAGE_TRY(tune_options.passes_off, passes_off_from(options.common.passes, label("--passes")));
  COLLAGE_TRY(tune_options.input_ranges, input_ranges_from(options.common.input_ranges, label("--input-range")));
  COLLAGE_TRY(tune_options.budget_s, seconds_from(options.budget, "--budget"));
  COLLAGE_TRY(tune_options.tune_budget_s, seconds_from(options.tune_budget, "--tune-budget", true));
  tune_options.progress = console.progress();
  tune_options.stop = interrupt_token();
  return tune_options;
}

int show(Console& console, const std::string& text, const std::string& json, bool interrupted) {
  const Outcome outcome = interrupted ? Outcome::kInterrupted : Outcome::kDone;
  if (auto shown = console.result(text, json, ExitCode::kGood, outcome); !shown) return console.failure(shown.error());
  return 0;
}

/// A plan for many shapes.
int run_shapes(const TuneCommand& options, TuneOptions parsed, Registry& registry, Console& console) {
  for (const auto& [option, text] : {std::pair{"--dump", &options.dump},
                                     {"--cost-table", &options.cost_table},
                                     {"--resume", &options.resume},
                                     {"--deploy", &options.deploy}})
    if (!text->empty())
      return console.failure({.code = "cli/bad-option",
                              .where = option,
                              .saw = "a range in --shape",
                              .allowed = "a tune of one shape",
                              .exit = ExitCode::kUsage});
  const auto report =
      tune_shapes({.tune = std::move(parsed), .asked = options.at, .most_points = options.points}, registry);
  if (!report) return console.failure(report.error());
  return show(console, to_text(*report), to_json(*report), report->interrupted);
}

int run_one(const TuneCommand& options, const TuneOptions& parsed, Registry& registry, Console& console) {
  const auto report = tune(parsed, registry);
  if (!report) return console.failure(report.error());
  return show(console, options.dump.empty() ? to_text(*report) : stage_of(*report, options.dump),
              json_of(*report, options.dump), report->interrupted);
}

/// Shows the progress and the plan on disk to a browser too.
Result<std::unique_ptr<LiveServer>> shown_live(int port, TuneOptions& options, Console& console) {
  const std::string file = options.output;
  const auto version = [file] {
    std::error_code none;
    const auto changed = std::filesystem::last_write_time(file, none);
    return none ? std::string() : std::to_string(changed.time_since_epoch().count());
  };
  const auto plan = [file]() -> Result<std::string> {
    COLLAGE_TRY(const PlanCases cases, load_cases(file, Checked::kWhatRuns));
    return plan_page(any_plan(cases).plan);
  };
  // A plan of an earlier tune is not this one's.
  const std::string before = version();
  COLLAGE_TRY(std::unique_ptr<LiveServer> live,
              LiveServer::open({.frame = live_page(),
                                .plan_version = [version, before] { return version() == before ? "" : version(); },
                                .plan = plan},
                               port));
  options.progress = [shows = options.progress, server = live.get()](const ProgressEvent& event) {
    shows(event);
    server->add(event);
  };
  console.note("live: " + live->address());
  return live;
}

int run_tune(const TuneCommand& options) {
  Console console(options.common);
  auto parsed = tune_options(options, console);
  if (!parsed) return console.failure(parsed.error());
  std::unique_ptr<LiveServer> live;
  if (options.live_port && has_ranges(parsed->shapes))
    return console.failure({.code = "cli/bad-option",
                            .where = "--serve",
                            .saw = "a range in --shape",
                            .allowed = "a tune of one shape",
                            .exit = ExitCode::kUsage});
  if (options.live_port) {
    auto opened = shown_live(*options.live_port, *parsed, console);
    if (!opened) return console.failure(opened.error());
    live = *std::move(opened);
  }
  Registry registry(module_places(options.common.backend_libraries));
  if (auto checked =
          check_only(options.common.only, options.common.named_backends, registry, label("--backends"), "--only");
      !checked)
    return console.failure(checked.error());
  if (has_ranges(parsed->shapes)) return run_shapes(options, std::move(*parsed), registry, console);
  for (const std::string option : {"--at", "--points"})
    if (is_given(*options.command, option))
      return console.failure({.code = "cli/bad-option",
                              .where = option,
                              .saw = "no range in --shape",
                              .allowed = "a range in --shape, such as batch=1..8",
                              .exit = ExitCode::kUsage});
  return run_one(options, *parsed, registry, console);
}

void add_range_options(CLI::App& command, TuneCommand& options) {
  command.add_option("--at", options.at, "a shape that gets a plan of its own, when --shape has ranges; repeatable")
      ->allow_extra_args(false)
      ->option_text("DIM=N,...[:WEIGHT]");
  command.add_option("--points", options.points, "most shapes that are sampled, when --shape has ranges")
      ->check(whole_number(1, 256))
      ->type_name("N")
      ->capture_default_str();
}

void add_choice_options(CLI::App& command, TuneCommand& options) {
  command.add_option("--ban", options.bans, "this backend does not run these nodes; repeatable")
      ->allow_extra_args(false)
      ->option_text("GLOB=NAME");
  command.add_option("--pin", options.pins, "only this backend runs these nodes; repeatable")
      ->allow_extra_args(false)
      ->option_text("GLOB=NAME");
  command.add_option("--rules", options.rules, "patterns, regions to fuse and limits of your own (docs/RULES.md)")
      ->type_name("FILE");
  command
      .add_option("--deploy", options.deploy,
                  "library: only backends whose kernels `collage export` can link run nodes; others are only timed")
      ->check(one_of({"library"}))
      ->type_name("TARGET");
  command.add_option("--memory-cap", options.memory_cap, "most bytes the plan may need while it runs, such as 64MB")
      ->transform(memory_size())
      ->type_name("SIZE");
  command.add_option("--memory-weight", options.memory_weight, "microseconds that a mebibyte of memory is worth")
      ->check(positive_number(true))
      ->type_name("US");
  command.add_flag("--measure-all", options.measures_all, "measure every candidate, not only what may be needed");
  command
      .add_option("--ablate", options.ablations,
                  "parts of the search to leave out, for evaluations: formats, borders, correction, evolution, "
                  "largest-first, backend-order; engines do not ship then")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("LIST");
  command.add_flag("--portable", options.portable,
                   "kernels for processors with fewer instructions too, compiled after the budget");
}

std::vector<std::string> dumped_stages() {
  std::vector<std::string> stages = {"cover"};
  stages.insert(stages.end(), kTuneStages.begin(), kTuneStages.end());
  return stages;
}

void add_report_options(CLI::App& command, TuneCommand& options) {
  command.add_option("--cost-table", options.cost_table, "where to write every candidate with its cost")
      ->type_name("FILE");
  command
      .add_option("--dump", options.dump,
                  "print a stage in place of the report: " + fmt::format("{}, cover", fmt::join(kTuneStages, ", ")))
      ->check(one_of(dumped_stages()))
      ->type_name("STAGE");
  command.add_option("--resume", options.resume, "costs that --dump priced printed: they are not measured again")
      ->type_name("FILE");
}

/// Nothing else is to be decided then.
void add_replay(CLI::App& command, TuneCommand& options) {
  CLI::Option* const replay =
      command.add_option("--replay", options.replay, "take the decisions of this plan, measure nothing")
          ->type_name("PLAN");
  for (const char* decided :
       {"--threads",     "--backends", "--only",     "--accuracy", "--passes",      "--shape",         "--at",
        "--points",      "--ban",      "--pin",      "--rules",    "--memory-cap",  "--memory-weight", "--deploy",
        "--measure-all", "--ablate",   "--portable", "--budget",   "--tune-budget", "--cost-table",    "--dump",
        "--resume"})
    replay->excludes(command.get_option(decided));
}

}  // namespace

void add_tune(CLI::App& app, Program& program) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* command = add_command(app, program, "tune", "measure, choose and write a plan", options, run_tune);
  options->command = command;
  command->add_option("model", options->model, "the .onnx file")->required();
  command->add_option("-o,--output", options->output, "the plan to write")->required()->type_name("PLAN");
  command->add_option("--budget", options->budget, "time for measuring, such as 90s or 5m")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--tune-budget", options->tune_budget,
                   "more time, to tune the schedules of the kernels that count, such as 60s")
      ->type_name("TIME")
      ->capture_default_str();
  add_range_options(*command, *options);
  add_choice_options(*command, *options);
  add_report_options(*command, *options);
  for (const auto& add : {add_threads, add_backend_list, add_only, add_store, add_seed, add_accuracy, add_passes})
    add(*command, options->common);
  add_shape(*command, options->common, "DIM=8, NAME=1x3x224x224 for an input, DIM=1..8 for a range; repeatable");
  add_input_range(*command, options->common);
  add_backend_library(*command, options->common);
  add_custom_ops(*command, options->common);
  add_reader(*command, options->common);
  command->add_option("--serve", options->live_port, "show the tune at this port to a browser of this machine; 0: any")
      ->check(whole_number(0, 65535))
      ->type_name("PORT")
      ->excludes("--quiet");
  add_replay(*command, *options);
  command->footer(examples({"collage tune model.onnx -o model.collage --budget 5m",
                            "collage tune model.onnx -o model.collage --shape batch=1..8 --at batch=4",
                            "collage tune model.onnx -o model.collage --pin 'head/*=onnxruntime'"}));
}

}  // namespace collage::cli
