#include "tune/bench.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "onnx/export.h"
#include "passes/simplify.h"
#include "tune/gather_inputs.h"
#include "tune/plan_model.h"
#include "tune/source_model.h"
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

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

}  // namespace

Result<BenchReport> bench(const BenchOptions& options, Registry& registry) {
  COLLAGE_TRY(RealisedPlan plan, load_plan(options.plan));
  COLLAGE_TRY(const SourceModel source, find_source_model(plan, options.model, registry));
  BenchReport report;
  report.model = plan.plan.model_path;
  report.threads = options.threads > 0 ? options.threads : plan.plan.threads;
  if (source.note) report.notes.push_back(*source.note);
  COLLAGE_TRY(const std::vector<Tensor> inputs,
              gather_inputs(source.graph, {.files = {}, .ranges = options.input_ranges, .seed = options.seed}));

  COLLAGE_TRY(PlanModel own, PlanModel::load(std::move(plan), registry, report.threads));
  COLLAGE_TRY_VOID(own.set_inputs(inputs));
  std::vector<Contender> contenders = {{"collage", [&own] { return own.run(); }}};
  report.contenders.push_back({.name = "collage", .version = own.session().plan().shipped, .note = {}, .lane = {}});

  std::vector<Rival> rivals;
  rivals.reserve(options.against.size());
  for (const std::string& name : options.against) {
    auto rival = make_rival(registry, name, source, report.threads);
    if (!rival) {
      report.notes.push_back(name + " does not run this model: " + rival.error().saw);
      continue;
    }
    rivals.push_back(std::move(*rival));
    WholeModel& model = rivals.back().model;
    COLLAGE_TRY_VOID(model.set_inputs(inputs));
    contenders.push_back({name, [&model] { return model.run(); }});
    report.contenders.push_back(
        {.name = name, .version = rivals.back().version, .note = rivals.back().note, .lane = {}});
  }
  RaceOptions race_options;
  race_options.seconds = options.seconds;
  race_options.seed = options.seed;
  race_options.stop = options.stop;
  COLLAGE_TRY(const std::vector<RaceLane> lanes, race(contenders, race_options));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    report.contenders[i].lane = lanes[i];
    if (i > 0) report.ratios.push_back({.against = lanes[i].name, .ratio = paired_ratio(lanes[i], lanes[0])});
  }
  return report;
}

std::string to_text(const BenchReport& report) {
  std::string text = fmt::format("{}, {} thread{}\n", report.model, report.threads, report.threads == 1 ? "" : "s");
  text += fmt::format("{:<14} {:<20} {:>12} {:>12} {:>8}   {}\n", "contender", "version", "median us", "p90 us",
                      "rounds", "collage is faster by");
  for (std::size_t i = 0; i < report.contenders.size(); ++i) {
    const BenchContender& c = report.contenders[i];
    text += fmt::format("{:<14} {:<20} {:>12.1f} {:>12.1f} {:>8}", c.name, c.version.substr(0, 20),
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
  object["contenders"] = nlohmann::ordered_json::array();
  for (const BenchContender& c : report.contenders) {
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (std::int64_t ns : c.lane.samples_ns) samples.push_back(us(ns));
    object["contenders"].push_back({{"name", c.name},
                                    {"version", c.version},
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
  return object.dump(2);
}

}  // namespace collage
