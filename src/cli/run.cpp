#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/program.h"
#include "onnx/tensor_file.h"
#include "plan/cases_file.h"
#include "plan/plan_file.h"
#include "tune/gather_inputs.h"
#include "tune/generic_plan.h"
#include "tune/plan_model.h"
#include "tune/recheck.h"
#include "tune/shape_choice.h"
#include "tune/source_model.h"
#include "tune/unmeasured.h"

namespace collage::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string subject;
  std::vector<std::string> inputs;
  std::string output_folder;
  std::string profile;
};

Result<std::map<std::string, std::string>> input_files(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> files;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ExitCode::kUsage, "cli/bad-option", "--input", argument, "NAME=FILE.npy or NAME=FILE.pb");
    files[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  return files;
}

/// What is run: a plan at one shape, and its graph for the inputs.
struct Subject {
  RealisedPlan plan;
  Graph graph;
};

Result<Subject> subject_of(const Options& options, const std::map<std::string, std::string>& files,
                           Registry& registry) {
  COLLAGE_TRY(const ShapeBindings shapes, parse_shape_bindings(options.common.shapes));
  Subject subject;
  if (!is_plan_file(options.subject)) {
    COLLAGE_TRY(
        subject.plan,
        unmeasured_plan({.model = options.subject, .shapes = shapes, .threads = options.common.threads}, registry));
    COLLAGE_TRY(subject.graph, plan_onnx_graph(subject.plan, PlanWeights::kZeros));
    return subject;
  }
  COLLAGE_TRY(const PlanCases cases, load_cases(options.subject, Checked::kWhatRuns));
  COLLAGE_TRY(const ShapePoint point, choose_point(cases, shapes, files));
  COLLAGE_TRY(subject.plan, serving_plan(cases, point));
  COLLAGE_TRY(subject.graph, plan_onnx_graph(subject.plan, PlanWeights::kZeros));
  bind_inputs(cases.domain, point, subject.graph);
  return subject;
}

/// Writes arrays as <kind>_<i>.npy and returns their entries of index.json.
Result<nlohmann::ordered_json> write_arrays(const std::string& folder, const std::string& kind,
                                            std::span<const ContextPort> ports, std::span<const Tensor> tensors) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string file = fmt::format("{}_{}.npy", kind, i);
    COLLAGE_TRY_VOID(write_npy(folder + "/" + file, tensors[i]));
    entries.push_back(
        {{"name", ports[i].name}, {"file", file}, {"type", name_of(tensors[i].type)}, {"shape", tensors[i].extents}});
  }
  return entries;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << '\n';
  if (!file.flush()) return fail(ExitCode::kIo, "io/cannot-write", path, "a failed write", "a writable place");
  return {};
}

Result<void> write_results(const std::string& folder, const Session& session, std::span<const Tensor> inputs,
                           std::span<const Tensor> outputs) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ExitCode::kIo, "io/cannot-write", folder, error.message(), "a folder that can be made");
  nlohmann::ordered_json index = {{"schema", "collage.arrays/1"}};
  COLLAGE_TRY(index["inputs"], write_arrays(folder, "input", session.inputs(), inputs));
  COLLAGE_TRY(index["outputs"], write_arrays(folder, "output", session.outputs(), outputs));
  return write_text(folder + "/index.json", index.dump(2));
}

std::string profile_json(const Plan& plan, std::span<const std::int64_t> times) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    steps.push_back({{"step", s},
                     {"kind", plan_name_of(plan.steps[s].kind)},
                     {"backend", plan.steps[s].backend},
                     {"variant", plan.steps[s].variant},
                     {"nodes", plan.steps[s].nodes},
                     {"us", static_cast<double>(times[s]) / 1000},
                     {"alone_us", static_cast<double>(plan.steps[s].cost_ns) / 1000}});
  return nlohmann::ordered_json{{"schema", "collage.profile/1"}, {"steps", steps}}.dump(2);
}

struct Shown {
  std::string text;
  std::string json;
};

Shown describe(const Session& session, std::span<const Tensor> outputs) {
  Shown shown;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::string type = to_string(outputs[o].value_type());
    shown.text += fmt::format("{}: {}\n", session.outputs()[o].name, type);
    list.push_back({{"name", session.outputs()[o].name}, {"type", type}});
  }
  shown.json = nlohmann::ordered_json{{"schema", "collage.run/1"}, {"outputs", list}}.dump(2);
  return shown;
}

Result<Shown> run_once(const Options& options, Console& console) {
  Registry registry(module_places(options.common.backend_libraries));
  GatherOptions gather;
  COLLAGE_TRY(gather.files, input_files(options.inputs));
  COLLAGE_TRY(Subject subject, subject_of(options, gather.files, registry));
  if (const std::string hint = recheck_hint(options.subject, subject.plan.plan, registry); !hint.empty())
    console.note(hint);
  COLLAGE_TRY(gather.ranges, input_ranges_from(options.common));
  gather.seed = options.common.seed;
  COLLAGE_TRY(const std::vector<Tensor> inputs, gather_inputs(subject.graph, gather));
  COLLAGE_TRY(PlanModel model, PlanModel::load(std::move(subject.plan), registry));
  COLLAGE_TRY_VOID(model.set_inputs(inputs));
  COLLAGE_TRY_VOID(model.run());
  COLLAGE_TRY(const std::vector<Tensor> outputs, model.outputs());
  if (!options.output_folder.empty())
    COLLAGE_TRY_VOID(write_results(options.output_folder, model.session(), inputs, outputs));
  if (!options.profile.empty()) {
    COLLAGE_TRY(const std::vector<std::int64_t> times, model.profile(20));
    COLLAGE_TRY_VOID(write_text(options.profile, profile_json(model.session().plan(), times)));
  }
  return describe(model.session(), outputs);
}

int run(const Options& options) {
  Console console(options.common);
  const auto shown = run_once(options, console);
  if (!shown) return console.failure(shown.error());
  if (auto written = console.result(shown->text, shown->json); !written) return console.failure(written.error());
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, program, "run", "run a plan, or a bare model with an unmeasured plan", options, run);
  command->add_option("subject", options->subject, "a plan, or a .onnx model")->required();
  command->add_option("--input", options->inputs, "NAME=FILE.npy or NAME=FILE.pb; others are made up");
  command->add_option("--output-dir", options->output_folder, "write the arrays and index.json here");
  command->add_option("--profile", options->profile, "write the time of every step to this file");
}

}  // namespace collage::cli
