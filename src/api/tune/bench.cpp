#include "api/tune/bench.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <set>

#include "api/run/loaded_plan.h"
#include "api/tune/gather_inputs.h"
#include "api/tune/plan_origin.h"
#include "api/tune/shape_choice.h"
#include "api/tune/source_model.h"
#include "api/tune/unmeasured.h"
#include "backend/roles.h"
#include "onnx/export.h"
#include "passes/simplify.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"
#include "tune/confirm/whole_model.h"

namespace collage {
namespace {

struct Rival {
  WholeModel model;
  std::string version;
  std::string note;
};

/// The floating types of a model's values, and what the accuracy class allows beside them.
std::string precision_of(const Graph& graph, std::string_view accuracy) {
  std::string text;
  std::set<std::string> types;
  for (const Value& value : graph.values)
    if (is_float(value.type.element)) types.insert(std::string(name_of(value.type.element)));
  for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
  if (bound_in_plan(accuracy).accuracy == Accuracy::kFast) text += " or 16 bits";
  return text.empty() ? "integers" : text;
}

/// In class fast also those at their own default precision.
std::vector<std::string> usual_rivals(const std::string& accuracy) {
  std::vector<std::string> names(kUsualRivals.begin(), kUsualRivals.end());
  if (bound_in_plan(accuracy).accuracy == Accuracy::kFast)
    for (const DefaultPrecision& one : kDefaultPrecisions) names.emplace_back(one.instance);
  return names;
}

/// What an engine's arithmetic is allowed: fewer bits only where it chooses itself.
Accuracy precision_class(const std::string& engine) {
  return is_at_default_precision(engine) ? Accuracy::kFast : Accuracy::kStandard;
}

/// Processors that compute in bf16 are where engines left alone do not compute in f32.
std::optional<std::string> precision_note(const std::string& accuracy) {
  if (__builtin_cpu_supports("avx512bf16") == 0 || bound_in_plan(accuracy).accuracy == Accuracy::kFast)
    return std::nullopt;
  return "all compute in the types of the model; engines left alone use bf16 here, faster and less exact";
}

/// The engine on the user's file; where it refuses that, on our simplified graph.
Result<Rival> make_rival(Registry& registry, const std::string& name, const SourceModel& source, int threads) {
  COLLAGE_TRY(Backend * engine, registry.get(name));
  const CompileOptions options{.threads = threads, .accuracy = Accuracy::kStandard};
  auto on_file = WholeModel::create(*engine, source.graph, source.model_bytes(), options);
  if (on_file) return Rival{std::move(*on_file), engine->info().version, {}};
  COLLAGE_TRY(const SimplifiedGraph simplified, simplify(source.graph, {}, {}));
  COLLAGE_TRY(WholeModel model, WholeModel::create(*engine, simplified.graph, std::nullopt, options));
  return Rival{std::move(model), engine->info().version,
               "on the simplified graph; refuses the file: " + on_file.error().saw};
}

/// The plan of the file, or an unmeasured one of the model.
Result<PlanCases> cases_of(const BenchOptions& options, Registry& registry) {
  if (is_plan_file(options.plan)) return load_cases(options.plan, Checked::kWhatRuns, options.signers);
  COLLAGE_TRY_VOID(refuse_model(options.plan, options.signers));
  UnmeasuredOptions unmeasured;
  unmeasured.model = options.plan;
  unmeasured.shapes = options.shapes;
  unmeasured.threads = std::max(options.threads, 1);
  unmeasured.reader = options.reader;
  COLLAGE_TRY(RealisedPlan plan, unmeasured_plan(unmeasured, registry));
  return single_case(std::move(plan));
}

/// The point of a plan file that the bindings say; those of a model are in its plan already.
Result<ShapePoint> point_of(const BenchOptions& options, const PlanCases& cases) {
  return is_plan_file(options.plan) ? choose_point(cases, options.shapes, {}) : ShapePoint{};
}

/// Everything in the file of a plan, as plan.onnx may have to stand in for the model; outside the time of loading it.
Result<void> check_whole(const BenchOptions& options) {
  if (is_plan_file(options.plan)) COLLAGE_TRY_VOID(load_cases(options.plan, Checked::kEverything, options.signers));
  return {};
}

/// Small models, too, are timed for the seconds asked for, within what a report can list.
constexpr std::size_t kMostRounds = 4000;

using Milliseconds = std::chrono::duration<double, std::milli>;

/// Milliseconds of `make`, which gives a Result.
template <class Make>
auto timed(double& ms, const Make& make) {
  const auto begin = std::chrono::steady_clock::now();
  auto made = make();
  ms += Milliseconds(std::chrono::steady_clock::now() - begin).count();
  return made;
}

/// From a plan in memory to ready to run at the shapes of the inputs.
Result<Session> session_at(PlanCases cases, int threads, Registry& registry, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY(const LoadedPlan plan, LoadedPlan::load(std::move(cases), registry, {.threads = threads, .machine = {}}));
  COLLAGE_TRY(Session session, plan.make_session());
  std::vector<Extents> extents;
  for (const Tensor& input : inputs) extents.push_back(input.extents);
  COLLAGE_TRY_VOID(session.set_shapes(extents));
  return session;
}

/// Loads a plan for nothing: what its libraries set up once per process is no part of loading a plan, and an engine's
/// session is timed after another one, too.
Result<void> load_once(const PlanCases& cases, int threads, Registry& registry, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY(const Session session, session_at(cases, threads, registry, inputs));
  return {};
}

/// All contenders: the rows of the report, and the objects that are timed.
struct Field {
  std::vector<BenchContender> rows;
  std::vector<Contender> contenders;
  std::vector<std::function<Result<std::vector<Tensor>>()>> outputs = {};  ///< of the last run
  /// Empty for a program: it got its inputs when it was started.
  std::vector<std::function<Result<void>(const std::vector<Tensor>&)>> set_inputs = {};
  std::deque<Session> plans;
  std::deque<WholeModel> engines;
  std::deque<RivalProgram> programs;
};

Result<void> add_plan(Field& field, const std::string& name, double read_ms, PlanCases cases, int threads,
                      Registry& registry, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY_VOID(load_once(cases, threads, registry, inputs));
  double load_ms = read_ms;
  COLLAGE_TRY(Session loaded, timed(load_ms, [&] { return session_at(std::move(cases), threads, registry, inputs); }));
  Session& session = field.plans.emplace_back(std::move(loaded));
  COLLAGE_TRY_VOID(session.set_inputs(inputs));
  field.contenders.push_back({name, [&session] { return session.run(); }});
  field.outputs.emplace_back([&session] { return session.copy_outputs(); });
  field.set_inputs.emplace_back([&session](const std::vector<Tensor>& other) { return session.set_inputs(other); });
  field.rows.push_back({.name = name,
                        .version = session.plan().shipped,
                        .load_ms = load_ms,
                        .note = {},
                        .precision = session.plan().accuracy,
                        .lane = {}});
  return {};
}

/// What a program waits for that creates the engine's session from the user's model; nothing where that is refused.
std::optional<double> session_ms_of(const std::string& name, const Rival& rival, const SourceModel& source, int threads,
                                    Registry& registry) {
  const std::string keeper(model_keeper_of(name));
  if (!rival.note.empty() || keeper.empty()) return std::nullopt;
  if (keeper == name) return Milliseconds(rival.model.load_time()).count();
  const Result<Backend*> engine = registry.get(keeper);
  if (!engine) return std::nullopt;
  const auto model = WholeModel::create(**engine, source.graph, source.model_bytes(),
                                        {.threads = threads, .accuracy = Accuracy::kStandard});
  return model ? std::optional(Milliseconds(model->load_time()).count()) : std::nullopt;
}

Result<void> add_engine(Field& field, const std::string& name, Rival rival, std::optional<double> session_ms,
                        const std::vector<Tensor>& inputs) {
  WholeModel& model = field.engines.emplace_back(std::move(rival.model));
  COLLAGE_TRY_VOID(model.set_inputs(inputs));
  field.contenders.push_back({name, [&model] { return model.run(); }});
  field.outputs.emplace_back([&model] { return model.outputs(); });
  field.set_inputs.emplace_back([&model](const std::vector<Tensor>& other) { return model.set_inputs(other); });
  field.rows.push_back({.name = name,
                        .version = rival.version,
                        .load_ms = Milliseconds(model.load_time()).count(),
                        .session_ms = session_ms,
                        .note = rival.note,
                        .precision = std::string(name_of(precision_class(name))),
                        .lane = {}});
  return {};
}

/// `name` is an engine's, or the path of another plan, which one of the signers signed where there are any.
Result<void> add_rival(Field& field, const std::string& name, const Signers& signers, const SourceModel& source,
                       int threads, Registry& registry, const std::vector<Tensor>& inputs,
                       std::vector<std::string>& notes) {
  if (is_plan_file(name)) {
    double read_ms = 0;
    COLLAGE_TRY(PlanCases cases, timed(read_ms, [&] { return load_cases(name, Checked::kWhatRuns, signers); }));
    return add_plan(field, name, read_ms, std::move(cases), threads, registry, inputs);
  }
  auto rival = make_rival(registry, name, source, threads);
  if (rival) {
    const std::optional<double> session_ms = session_ms_of(name, *rival, source, threads, registry);
    return add_engine(field, name, std::move(*rival), session_ms, inputs);
  }
  notes.push_back(name + " does not run this model: " + rival.error().saw);
  return {};
}

struct StartedRival {
  RivalProgram program;
  std::string note;
};

/// Starts the program, runs it once and takes its outputs.
Result<StartedRival> started_on(const RivalCommand& command, const RivalTask& task, const std::stop_token& stop) {
  COLLAGE_TRY(RivalProgram program, RivalProgram::start(command, task, stop));
  COLLAGE_TRY_VOID(program.run(1));
  COLLAGE_TRY_VOID(program.outputs());
  std::string note = program.note();
  return StartedRival{std::move(program), std::move(note)};
}

/// On the user's file; where the program refuses that, on the simplified graph, as make_rival().
Result<StartedRival> start_rival(const RivalCommand& command, const SourceModel& source, RivalTask task,
                                 const std::stop_token& stop) {
  auto on_file = started_on(command, task, stop);
  if (on_file || on_file.error().code == "rival/cannot-start" || stop.stop_requested()) return on_file;
  COLLAGE_TRY(const SimplifiedGraph simplified, simplify(source.graph, {}, {}));
  task.model_bytes = export_graph(simplified.graph, {.external = {}, .node_metadata = {}, .keep_ids = false});
  auto on_graph = started_on(command, task, stop);
  if (!on_graph) return on_graph;
  on_graph->note = "on the simplified graph; refuses the file: " + on_file.error().saw;
  return on_graph;
}

/// A program that does not run the model is noted and left out.
void add_program(Field& field, const RivalCommand& command, Result<StartedRival> started,
                 std::vector<std::string>& notes) {
  if (!started) {
    notes.push_back(command.name + " does not run this model: " + started.error().saw);
    return;
  }
  RivalProgram& program = field.programs.emplace_back(std::move(started->program));
  const auto run = [&program](std::int64_t times) { return program.run(times); };
  field.contenders.push_back({.name = command.name,
                              .run = [&program]() -> Result<void> {
                                COLLAGE_TRY_VOID(program.run(1));
                                return {};
                              },
                              .timed_elsewhere = run});
  field.outputs.emplace_back([&program] { return program.outputs(); });
  field.set_inputs.emplace_back();
  field.rows.push_back({.name = command.name,
                        .version = program.version(),
                        .load_ms = program.load_ms(),
                        .note = started->note,
                        .precision = program.precision(),
                        .lane = {}});
}

Result<void> add_programs(Field& field, const BenchOptions& options, const SourceModel& source, int threads,
                          const std::vector<Tensor>& inputs, std::vector<std::string>& notes) {
  if (options.programs.empty()) return {};
  const RivalTask task{.graph = &source.graph, .model_bytes = source.bound_model, .inputs = inputs, .threads = threads};
  for (const RivalCommand& command : options.programs) {
    if (std::ranges::find(field.rows, command.name, &BenchContender::name) != field.rows.end())
      return fail(ExitCode::kUsage, "cli/bad-option", "--rival", "'" + command.name + "'", "a name that no other has");
    if (options.progress) options.progress({.phase = "rival", .note = command.name + " prepares the model"});
    add_program(field, command, start_rival(command, source, task, options.stop), notes);
  }
  return {};
}

/// Compares the outputs of a contender's last run with the reference's; one that was wrong once stays wrong.
Result<void> check_one(Field& field, std::size_t contender, const ExpectedNumbers& expected) {
  COLLAGE_TRY(const std::vector<Tensor> seen, field.outputs[contender]());
  NumbersCheck& numbers = field.rows[contender].numbers;
  if (!numbers.is_wrong()) numbers = check_numbers(seen, expected);
  return {};
}

Result<void> check_all(Field& field, const ExpectedNumbers& expected) {
  for (std::size_t i = 0; i < field.rows.size(); ++i) COLLAGE_TRY_VOID(check_one(field, i, expected));
  return {};
}

/// On sets that are not timed; the inputs of the first are in place afterwards.
Result<void> check_on_more(Field& field, std::span<const CheckedSet> sets) {
  if (sets.size() < 2) return {};
  for (std::size_t i = 0; i < field.rows.size(); ++i) {
    if (!field.set_inputs[i]) continue;
    for (const CheckedSet& set : sets.subspan(1)) {
      COLLAGE_TRY_VOID(field.set_inputs[i](set.inputs));
      COLLAGE_TRY_VOID(field.contenders[i].run());
      COLLAGE_TRY_VOID(check_one(field, i, *set.expected));
    }
    COLLAGE_TRY_VOID(field.set_inputs[i](sets.front().inputs));
  }
  return {};
}

Result<std::vector<RaceLane>> race_of(Field& field, const BenchOptions& options, std::span<const CheckedSet> sets) {
  COLLAGE_TRY_VOID(check_on_more(field, sets));
  const std::optional<ExpectedNumbers>& expected = sets.front().expected;
  for (const Contender& one : field.contenders) COLLAGE_TRY_VOID(one.run());
  if (expected) COLLAGE_TRY_VOID(check_all(field, *expected));
  RaceOptions race_options;
  race_options.seconds = options.seconds;
  race_options.max_rounds = kMostRounds;
  race_options.seed = options.seed;
  race_options.stop = options.stop;
  COLLAGE_TRY(std::vector<RaceLane> lanes, race(field.contenders, race_options));
  if (expected) COLLAGE_TRY_VOID(check_all(field, *expected));
  return lanes;
}

}  // namespace

const BenchRatio* best_rival(const BenchReport& report) {
  const BenchRatio* best = nullptr;
  for (const BenchRatio& one : report.ratios)
    if (one.counts && (best == nullptr || one.ratio.ratio < best->ratio.ratio)) best = &one;
  return best;
}

bool has_wrong_plan(const BenchReport& report) {
  return !report.contenders.empty() && report.contenders.front().numbers.is_wrong();
}

Result<BenchReport> bench(const BenchOptions& options, Registry& registry) {
  COLLAGE_TRY_VOID(check_whole(options));
  double read_ms = 0;
  BenchReport report;
  COLLAGE_TRY(PlanCases cases, timed(read_ms, [&] { return cases_of(options, registry); }));
  COLLAGE_TRY(const ShapePoint point, point_of(options, cases));
  report.shape = to_string(cases.domain, point);
  COLLAGE_TRY(const RealisedPlan plan, plan_at(cases, point));
  COLLAGE_TRY(const SourceModel source, find_source_model(plan, options.model, registry, options.reader));
  report.model = plan.plan.model_path;
  report.threads = options.threads > 0 ? options.threads : plan.plan.threads;
  if (source.note) report.notes.push_back(*source.note);
  COLLAGE_TRY(const std::vector<CheckedSet> sets,
              checked_sets(source, {.files = {}, .ranges = options.input_ranges, .seed = options.seed},
                           bound_in_plan(plan.plan.accuracy), registry, report.notes));
  const std::vector<Tensor>& inputs = sets.front().inputs;
  Field field;
  COLLAGE_TRY_VOID(add_plan(field, "collage", read_ms, std::move(cases), report.threads, registry, inputs));
  for (const std::string& name : options.against.empty() ? usual_rivals(plan.plan.accuracy) : options.against)
    COLLAGE_TRY_VOID(
        add_rival(field, name, options.rival_signers, source, report.threads, registry, inputs, report.notes));
  const std::size_t in_process = field.rows.size();
  COLLAGE_TRY_VOID(add_programs(field, options, source, report.threads, inputs, report.notes));

  COLLAGE_TRY(const std::vector<RaceLane> lanes, race_of(field, options, sets));
  report.interrupted = options.stop.stop_requested();
  report.contenders = std::move(field.rows);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    BenchContender& one = report.contenders[i];
    one.lane = lanes[i];
    if (i < in_process) one.precision = precision_of(source.graph, one.precision);
    if (i > 0)
      report.ratios.push_back(
          {.against = lanes[i].name, .ratio = paired_ratio(lanes[i], lanes[0]), .counts = !one.numbers.is_wrong()});
  }
  if (auto note = precision_note(plan.plan.accuracy)) report.notes.push_back(*std::move(note));
  return report;
}

}  // namespace collage
