#include "tune/bench.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "onnx/export.h"
#include "passes/simplify.h"
#include "plan/cases_file.h"
#include "plan/plan_file.h"
#include "tune/gather_inputs.h"
#include "tune/generic_plan.h"
#include "tune/plan_model.h"
#include "tune/shape_choice.h"
#include "tune/source_model.h"
#include "tune/unmeasured.h"
#include "tune/whole_model.h"

namespace collage {
namespace {

struct Rival {
  WholeModel model;
  std::string version;
  std::string note;
};

/// The engine on the user's file; where it refuses that, on our simplified graph.
Result<Rival> make_rival(Registry& registry, const std::string& name, const SourceModel& source, int threads) {
  COLLAGE_TRY(Backend * engine, registry.get(name));
  const CompileOptions options{.threads = threads, .accuracy = Accuracy::kStandard};
  auto on_file = WholeModel::create(*engine, source.graph, source.bound_model, options);
  if (on_file) return Rival{std::move(*on_file), engine->info().version, {}};
  COLLAGE_TRY(const SimplifiedGraph simplified, simplify(source.graph, {}, {}));
  COLLAGE_TRY(WholeModel model, WholeModel::create(*engine, simplified.graph, std::nullopt, options));
  return Rival{std::move(model), engine->info().version,
               "on the simplified graph; refuses the file: " + on_file.error().saw};
}

/// The plan of a file at the shape that the bindings say, which goes to `shape`.
Result<RealisedPlan> plan_in(const std::string& path, const ShapeBindings& bindings, std::string& shape) {
  COLLAGE_TRY(const PlanCases cases, load_cases(path, Checked::kWhatRuns));
  COLLAGE_TRY(const ShapePoint point, choose_point(cases, bindings, {}));
  shape = to_string(cases.domain, point);
  return serving_plan(cases, point);
}

/// The plan of a rival's file at the shape of the inputs.
Result<RealisedPlan> rival_plan(const std::string& path, const Graph& graph, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY(const PlanCases cases, load_cases(path));
  COLLAGE_TRY(const ShapePoint point, point_for(cases, graph, inputs));
  return serving_plan(cases, point);
}

Result<RealisedPlan> plan_of(const BenchOptions& options, Registry& registry, std::string& shape) {
  if (is_plan_file(options.plan)) return plan_in(options.plan, options.shapes, shape);
  UnmeasuredOptions unmeasured;
  unmeasured.model = options.plan;
  unmeasured.shapes = options.shapes;
  unmeasured.threads = std::max(options.threads, 1);
  return unmeasured_plan(unmeasured, registry);
}

/// Everything in the file of a plan, as plan.onnx may have to stand in for the model; outside the time of loading it.
Result<void> check_whole(const std::string& plan) {
  if (is_plan_file(plan)) COLLAGE_TRY_VOID(load_cases(plan));
  return {};
}

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

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

/// Loads a plan for nothing: what its libraries set up once per process is no part of loading a plan, and an engine's
/// session is timed after another one, too.
Result<void> load_once(const RealisedPlan& plan, int threads, Registry& registry) {
  COLLAGE_TRY(const PlanModel loaded, PlanModel::load(plan, registry, threads));
  return {};
}

/// Everybody who is timed: rows of the report, and what is behind them.
struct Field {
  std::vector<BenchContender> rows;
  std::vector<Contender> contenders;
  std::deque<PlanModel> plans;
  std::deque<WholeModel> engines;
};

Result<void> add_plan(Field& field, const std::string& name, double read_ms, RealisedPlan plan, int threads,
                      Registry& registry, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY_VOID(load_once(plan, threads, registry));
  double load_ms = read_ms;
  COLLAGE_TRY(PlanModel loaded, timed(load_ms, [&] { return PlanModel::load(std::move(plan), registry, threads); }));
  PlanModel& model = field.plans.emplace_back(std::move(loaded));
  COLLAGE_TRY_VOID(model.set_inputs(inputs));
  field.contenders.push_back({name, [&model] { return model.run(); }});
  field.rows.push_back(
      {.name = name, .version = model.session().plan().shipped, .load_ms = load_ms, .note = {}, .lane = {}});
  return {};
}

Result<void> add_engine(Field& field, const std::string& name, Rival rival, const std::vector<Tensor>& inputs) {
  WholeModel& model = field.engines.emplace_back(std::move(rival.model));
  COLLAGE_TRY_VOID(model.set_inputs(inputs));
  field.contenders.push_back({name, [&model] { return model.run(); }});
  field.rows.push_back({.name = name,
                        .version = rival.version,
                        .load_ms = Milliseconds(model.load_time()).count(),
                        .note = rival.note,
                        .lane = {}});
  return {};
}

/// `name` is an engine's, or the path of another plan.
Result<void> add_rival(Field& field, const std::string& name, const SourceModel& source, int threads,
                       Registry& registry, const std::vector<Tensor>& inputs, std::vector<std::string>& notes) {
  if (is_plan_file(name)) {
    double read_ms = 0;
    COLLAGE_TRY(RealisedPlan plan, timed(read_ms, [&] { return rival_plan(name, source.graph, inputs); }));
    return add_plan(field, name, read_ms, std::move(plan), threads, registry, inputs);
  }
  auto rival = make_rival(registry, name, source, threads);
  if (rival) return add_engine(field, name, std::move(*rival), inputs);
  notes.push_back(name + " does not run this model: " + rival.error().saw);
  return {};
}

}  // namespace

Result<BenchReport> bench(const BenchOptions& options, Registry& registry) {
  COLLAGE_TRY_VOID(check_whole(options.plan));
  double read_ms = 0;
  BenchReport report;
  COLLAGE_TRY(RealisedPlan plan, timed(read_ms, [&] { return plan_of(options, registry, report.shape); }));
  COLLAGE_TRY(const SourceModel source, find_source_model(plan, options.model, registry));
  report.model = plan.plan.model_path;
  report.threads = options.threads > 0 ? options.threads : plan.plan.threads;
  if (source.note) report.notes.push_back(*source.note);
  COLLAGE_TRY(const std::vector<Tensor> inputs,
              gather_inputs(source.graph, {.files = {}, .ranges = options.input_ranges, .seed = options.seed}));

  Field field;
  COLLAGE_TRY_VOID(add_plan(field, "collage", read_ms, std::move(plan), report.threads, registry, inputs));
  for (const std::string& name : options.against)
    COLLAGE_TRY_VOID(add_rival(field, name, source, report.threads, registry, inputs, report.notes));

  RaceOptions race_options;
  race_options.seconds = options.seconds;
  race_options.max_rounds = kMostRounds;
  race_options.seed = options.seed;
  race_options.stop = options.stop;
  COLLAGE_TRY(const std::vector<RaceLane> lanes, race(field.contenders, race_options));
  report.contenders = std::move(field.rows);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    report.contenders[i].lane = lanes[i];
    if (i > 0) report.ratios.push_back({.against = lanes[i].name, .ratio = paired_ratio(lanes[i], lanes[0])});
  }
  return report;
}

std::string to_text(const BenchReport& report) {
  std::string text = fmt::format("{}{}, {} thread{}\n", report.model, report.shape.empty() ? "" : " at " + report.shape,
                                 report.threads, report.threads == 1 ? "" : "s");
  text += fmt::format("{:<14} {:<20} {:>9} {:>12} {:>12} {:>8}   {}\n", "contender", "version", "load ms", "median us",
                      "p90 us", "rounds", "collage is faster by");
  for (std::size_t i = 0; i < report.contenders.size(); ++i) {
    const BenchContender& c = report.contenders[i];
    text += fmt::format("{:<14} {:<20} {:>9.1f} {:>12.1f} {:>12.1f} {:>8}", c.name, c.version.substr(0, 20), c.load_ms,
                        us(c.lane.median_ns()), us(c.lane.quantile_ns(0.9)), c.lane.samples_ns.size());
    if (i > 0) {
      const Ratio& r = report.ratios[i - 1].ratio;
      text += fmt::format("   {:.2f}x [{:.2f}, {:.2f}]", r.ratio, r.low, r.high);
    }
    text += "\n";
    if (!c.note.empty()) text += "               " + c.note + "\n";
  }
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

std::string to_json(const BenchReport& report) {
  nlohmann::ordered_json object = {{"schema", "collage.bench/1"}, {"model", report.model}, {"threads", report.threads}};
  if (!report.shape.empty()) object["shape"] = report.shape;
  object["contenders"] = nlohmann::ordered_json::array();
  for (const BenchContender& c : report.contenders) {
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (std::int64_t ns : c.lane.samples_ns) samples.push_back(us(ns));
    object["contenders"].push_back({{"name", c.name},
                                    {"version", c.version},
                                    {"load_ms", c.load_ms},
                                    {"median_us", us(c.lane.median_ns())},
                                    {"p90_us", us(c.lane.quantile_ns(0.9))},
                                    {"samples", samples},
                                    {"note", c.note}});
  }
  object["ratios"] = nlohmann::ordered_json::array();
  for (const BenchRatio& r : report.ratios)
    object["ratios"].push_back(
        {{"against", r.against}, {"ratio", r.ratio.ratio}, {"low", r.ratio.low}, {"high", r.ratio.high}});
  object["notes"] = report.notes;
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
