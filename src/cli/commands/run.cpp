#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "api/run/loaded_plan.h"
#include "api/tune/gather_inputs.h"
#include "api/tune/plan_origin.h"
#include "api/tune/recheck.h"
#include "api/tune/run_subject.h"
#include "base/in_file.h"
#include "base/json_numbers.h"
#include "cli/commands/run_report.h"
#include "cli/commands/run_trace.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "onnx/files/value_file.h"
#include "plan/file/plan_file.h"

namespace collage::cli {
namespace {

struct RunCommand {
  CommonOptions common;
  std::string subject;
  std::vector<std::string> inputs;
  std::string output_folder;
  std::string profile;
  std::string trace;
  std::string deadline;
  bool strict_inputs = false;
  CLI::App* command = nullptr;
};

Result<std::map<std::string, std::string>> input_files(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> files;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ExitCode::kUsage, "cli/bad-option", "--input", argument,
                  "NAME=FILE.npy, NAME=FILE.pb or NAME=FILE.json");
    if (!files.emplace(argument.substr(0, equals), argument.substr(equals + 1)).second)
      return fail(ExitCode::kUsage, "cli/bad-option", "--input", argument + ", a second file for this input",
                  "one file for each input");
  }
  return files;
}

/// Writes values as <kind>_<i>.npy, those that NumPy does not have as .json or .pb; notes where, and returns their
/// entries of index.json.
Result<nlohmann::ordered_json> write_arrays(const std::string& folder, const std::string& kind,
                                            std::vector<RunArray>& arrays, std::vector<std::string>& files) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Tensor& tensor = arrays[i].tensor;
    const std::string file = fmt::format("{}_{}.{}", kind, i, best_ending(tensor));
    arrays[i].written = folder + "/" + file;
    COLLAGE_TRY_VOID(write_value(arrays[i].written, tensor));
    files.push_back(arrays[i].written);
    entries.push_back({{"name", arrays[i].name},
                       {"file", file},
                       {"type", tensor.container ? to_string(*tensor.container) : std::string(name_of(tensor.type))}});
    if (!tensor.container) entries.back()["shape"] = tensor.extents;
  }
  return entries;
}

/// Of --profile and --trace.
constexpr int kRunsMore = 20;
/// A year: a longer --deadline is none.
constexpr double kMostSeconds = 31'536'000;

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << '\n';
  if (!file.flush()) return fail(ExitCode::kIo, "io/cannot-write", path, "a failed write", "a writable place");
  return {};
}

Result<void> write_results(const std::string& folder, RunReport& report) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ExitCode::kIo, "io/cannot-write", folder, error.message(), "a folder that can be made");
  nlohmann::ordered_json index = {{"schema", "collage.arrays/1"}};
  COLLAGE_TRY(index["inputs"], write_arrays(folder, "input", report.inputs, report.files));
  COLLAGE_TRY(index["outputs"], write_arrays(folder, "output", report.outputs, report.files));
  report.files.push_back(folder + "/index.json");
  return write_text(report.files.back(), index.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string profile_json(const Plan& plan, std::span<const std::int64_t> times) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    steps.push_back({{"step", s},
                     {"kind", kind_name(plan.steps[s])},
                     {"backend", plan.steps[s].backend},
                     {"variant", plan.steps[s].variant},
                     {"nodes", nodes_of(plan.steps[s]).names},
                     {"us", static_cast<double>(times[s]) / 1000},
                     {"alone_us", static_cast<double>(plan.steps[s].cost_ns) / 1000}});
  return nlohmann::ordered_json{{"schema", "collage.profile/1"}, {"steps", steps}}.dump(2);
}

/// --strict-inputs: every input has a file.
Result<void> check_all_given(const Graph& graph, const std::map<std::string, std::string>& files) {
  for (const ValueId id : graph.inputs)
    if (const std::string& name = graph.value(id).name; !files.contains(name))
      return fail(ExitCode::kBadInput, "input/missing", "input " + name, "no file, with --strict-inputs",
                  "--input " + name + "=FILE.npy for " + to_string(graph.value(id).type));
  return {};
}

std::vector<RunArray> named(std::span<const TensorPort> ports, std::vector<Tensor> tensors,
                            const std::map<std::string, std::string>& files = {}) {
  std::vector<RunArray> arrays;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto given = files.find(ports[i].name);
    arrays.push_back({.name = ports[i].name,
                      .tensor = std::move(tensors[i]),
                      .given = given == files.end() ? "" : given->second,
                      .written = {}});
  }
  return arrays;
}

/// What is asked of the one plan or model.
Result<GatherOptions> gather_options(const RunCommand& options) {
  GatherOptions gather;
  COLLAGE_TRY(gather.files, input_files(options.inputs));
  COLLAGE_TRY(gather.ranges, input_ranges_from(options.common.input_ranges, label("--input-range")));
  gather.seed = options.common.seed;
  return gather;
}

/// How long the run may take; nothing for as long as it takes.
Result<std::optional<Clock::duration>> time_limit_of(const RunCommand& options) {
  if (options.deadline.empty()) return std::nullopt;
  COLLAGE_TRY(const double seconds, seconds_from(options.deadline, "--deadline"));
  return std::chrono::duration_cast<Clock::duration>(Seconds(std::min(seconds, kMostSeconds)));
}

/// A plan needs none, and a program that only runs plans may have no worker.
Result<ModelReader> reader_for(const RunCommand& options) {
  if (is_plan_file(options.subject)) {
    COLLAGE_TRY_VOID(refuse_given(*options.command, {"--limit", "--trust"}, "a plan, of which no model is read"));
    return ModelReader();
  }
  return model_reader(options.common);
}

Result<RunReport> run_once(const RunCommand& options, Console& console) {
  // Before any thread is started, which would get the signal instead.
  const std::stop_token interrupt = interrupt_token();
  COLLAGE_TRY(const std::optional<Clock::duration> time_limit, time_limit_of(options));
  std::optional<Counters> counters;
  if (!options.trace.empty()) counters.emplace(Counters::open());
  Registry registry(module_places(options.common.backend_libraries));
  COLLAGE_TRY(const GatherOptions gather, gather_options(options));
  COLLAGE_TRY(const ShapeBindings shapes, parse_shape_bindings(options.common.shapes));
  COLLAGE_TRY(const Signers signers, signers_from(options.common.signer_files));
  COLLAGE_TRY(const ModelReader reader, reader_for(options));
  COLLAGE_TRY(RunSubject subject, find_run_subject({.path = options.subject,
                                                    .shapes = shapes,
                                                    .files = gather.files,
                                                    .threads = options.common.threads,
                                                    .reader = reader,
                                                    .signers = signers},
                                                   registry));
  if (const std::string hint = recheck_hint(options.subject, subject.plan.plan, registry); !hint.empty())
    console.note(hint);
  if (is_plan_file(options.subject))
    if (const std::string note = origin_note(options.subject, subject.cases); !note.empty()) console.note(note);
  if (options.strict_inputs) COLLAGE_TRY_VOID(check_all_given(subject.graph, gather.files));
  COLLAGE_TRY(std::vector<Tensor> inputs, gather_inputs(subject.graph, gather));
  const int threads = is_given(*options.command, "--threads") ? options.common.threads : 0;
  RunReport report{.seed = gather.seed, .threads = subject.plan.plan.threads};
  const auto plan = LoadedPlan::load(std::move(subject.cases), registry, {.threads = threads, .machine = {}});
  if (!plan) return std::unexpected(in_file(options.subject, plan.error()));
  COLLAGE_TRY(Session session, plan->make_session());
  COLLAGE_TRY_VOID(session.set_inputs(inputs));
  RunOptions early_end{.cancel = interrupt, .deadline = {}};
  if (time_limit) early_end.deadline = later(*time_limit);
  const auto begin = std::chrono::steady_clock::now();
  COLLAGE_TRY_VOID(session.run(early_end));
  report.run_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  COLLAGE_TRY(std::vector<Tensor> outputs, session.copy_outputs());
  report.inputs = named(session.inputs(), std::move(inputs), gather.files);
  report.outputs = named(session.outputs(), std::move(outputs));
  if (!options.output_folder.empty()) COLLAGE_TRY_VOID(write_results(options.output_folder, report));
  if (!options.profile.empty()) {
    COLLAGE_TRY(const std::vector<std::int64_t> times, session.profile(kRunsMore, interrupt));
    COLLAGE_TRY_VOID(write_text(options.profile, profile_json(session.plan(), times)));
    report.files.push_back(options.profile);
  }
  if (!options.trace.empty()) {
    COLLAGE_TRY(const std::string text, traced(session, kRunsMore, *counters, interrupt));
    COLLAGE_TRY_VOID(write_text(options.trace, text));
    report.files.push_back(options.trace);
  }
  return report;
}

int report_run(const RunCommand& options) {
  Console console(options.common);
  const auto report = run_once(options, console);
  if (!report) return console.failure(report.error());
  if (auto written = console.result(to_text(*report), to_json(*report)); !written)
    return console.failure(written.error());
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Program& program) {
  auto options = std::make_shared<RunCommand>();
  CLI::App* command =
      add_command(app, program, "run", "run a plan, or a bare model with an unmeasured plan", options, report_run);
  options->command = command;
  command->add_option("subject", options->subject, "a plan, or a .onnx model")->required();
  command->add_option("--input", options->inputs, "a value in a .npy, .pb or .json file; the others are made up")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE");
  command->add_flag("--strict-inputs", options->strict_inputs, "an input without a file is an error");
  command->add_option("--output-dir", options->output_folder, "write the arrays and index.json here")
      ->type_name("FOLDER");
  command->add_option("--deadline", options->deadline, "end the run with an error after this time, such as 2s")
      ->type_name("TIME");
  command->add_option("--profile", options->profile, "run 20 times more, write the median of every step to this file")
      ->type_name("FILE");
  command->add_option("--trace", options->trace, "run 20 times more, write when each step ran for Perfetto's viewer")
      ->type_name("FILE");
  add_shape(*command, options->common, kOneShape);
  add_input_range(*command, options->common);
  add_seed(*command, options->common);
  add_threads(*command, options->common);
  add_backend_library(*command, options->common);
  add_custom_ops(*command, options->common);
  add_reader(*command, options->common);
  add_require_signature(*command, options->common);
  command->footer(examples({"collage run model.collage --input x=x.npy --output-dir out",
                            "collage run model.onnx --shape batch=4      made-up inputs, in one engine",
                            "collage run model.collage --strict-inputs --input x=x.npy --json -",
                            "collage run model.collage --require-signature release.pub.pem"}));
}

}  // namespace collage::cli
