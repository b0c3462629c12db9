#include "tune/shapes/tune_shapes.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json_numbers.h"
#include "onnx/relocate.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"
#include "tune/confirm/guard.h"
#include "tune/confirm/isolate.h"
#include "tune/jobs.h"
#include "tune/shapes/generic_plan.h"
#include "tune/shapes/shape_gaps.h"
#include "tune/shapes/shape_times.h"
#include "tune/stages.h"

namespace collage {
namespace {

/// A tuned point: its plan in a file and the record it was checked against.
struct TunedPoint {
  ShapeSample sample;
  TuneReport report;
  RealisedPlan plan;
  std::string file;
  std::string inputs;
  std::string outputs;
  PointTimes times;  ///< beside engines with open dimensions
};

class ShapesTuner {
 public:
  ShapesTuner(const ShapesOptions& options, ShapeDomain domain, Registry& registry, WorkFolder folder)
      : options_(options),
        domain_(std::move(domain)),
        registry_(registry),
        folder_(std::move(folder)),
        worker_(options.tune.worker_command) {}

  Result<ShapesReport> run() {
    COLLAGE_TRY(model_, import_open(options_.tune, domain_, registry_, worker_, folder_));
    COLLAGE_TRY(std::vector<ShapeSample> samples, first_samples());
    std::ranges::copy_if(samples, std::back_inserter(model_.samples), &ShapeSample::is_asked);
    // What weighs most comes first: an interrupted tune has it.
    std::ranges::stable_sort(samples, std::ranges::greater(), &ShapeSample::weight);
    const bool may_refine = samples.size() < options_.most_points;
    COLLAGE_TRY_VOID(tune_all(std::move(samples), may_refine ? kLadderShare : kPointsShare));
    if (may_refine) COLLAGE_TRY_VOID(refine());
    if (points_.empty()) return std::unexpected(*first_error_);
    COLLAGE_TRY_VOID(measure_generic());
    return ship();
  }

 private:
  Result<std::vector<ShapeSample>> first_samples() const {
    std::vector<ShapeSample> asked;
    for (const std::string& text : options_.asked) {
      COLLAGE_TRY(ShapeSample sample, parse_sample(domain_, text));
      asked.push_back(std::move(sample));
    }
    return choose_samples(domain_, asked, options_.most_points);
  }

  [[nodiscard]] double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  [[nodiscard]] double left_s(double share) const { return share * options_.tune.budget_s - elapsed_s(); }
  [[nodiscard]] bool is_stopped() const { return options_.tune.stop.stop_requested(); }

  /// Each point gets its share of what is left until `share` of the budget is used.
  Result<void> tune_all(std::vector<ShapeSample> samples, double share) {
    double weights = 0;
    for (const ShapeSample& sample : samples) weights += sample.weight;
    for (ShapeSample& sample : samples) {
      if (is_stopped() && !points_.empty()) break;
      const double budget = std::max(left_s(share) * sample.weight / weights, kLeastBudget);
      weights -= sample.weight;
      COLLAGE_TRY_VOID(tune_point(std::move(sample), budget));
    }
    return {};
  }

  /// A point that gets no plan is a note: the generic plan serves it.
  Result<void> tune_point(ShapeSample sample, double budget_s) {
    TunedPoint point{.sample = std::move(sample)};
    point.times.weight = point.sample.weight;
    const std::string title = to_string(domain_, point.sample.point);
    const std::string stem = folder_.file(fmt::format("case{}", tuned_++));
    point.file = stem + ".collage";
    point.inputs = stem + ".inputs";
    point.outputs = stem + ".outputs";
    TuneOptions one = options_.tune;
    one.shapes = bindings_at(options_.tune.shapes, domain_, point.sample.point);
    one.output = point.file;
    one.budget_s = budget_s;
    // A store in memory ends with a tune; points learn from each other.
    if (one.store == "memory:") one.store = folder_.file("costs.sqlite");
    one.on_prepared = [&](const Prepared& prepared) { return keep_record(prepared, point); };
    if (one.progress)
      one.progress = [&, sink = options_.tune.progress, is_first = true](ProgressEvent event) mutable {
        if (is_first || !event.note.empty()) event.note = event.note.empty() ? title : title + ": " + event.note;
        is_first = false;
        event.left_s.reset();
        sink(event);
      };
    auto report = tune(one, registry_);
    if (!report) {
      if (report.error().exit == ExitCode::kInterrupted || report.error().exit == ExitCode::kUsage)
        return points_.empty() ? Result<void>(std::unexpected(report.error())) : Result<void>();
      notes_.push_back(title + " has no plan of its own: " + to_string(report.error()));
      if (!first_error_) first_error_ = report.error();
      return {};
    }
    point.report = std::move(*report);
    COLLAGE_TRY(point.plan, load_plan(point.file));
    points_.push_back(std::move(point));
    return {};
  }

  /// The files of a record are in the tune's own folder, which goes away.
  static Result<void> keep_record(const Prepared& prepared, const TunedPoint& point) {
    for (const auto& [from, to] : {std::pair{prepared.inputs, point.inputs}, {prepared.outputs, point.outputs}})
      for (const char* part : {"", ".json"}) {
        std::error_code error;
        std::filesystem::copy_file(from + part, to + part, error);
        if (error) return fail(ExitCode::kIo, "io/cannot-write", to + part, error.message(), "room for a copy");
      }
    return {};
  }

  // ---- between the points ----------------------------------------------------------------------------------
  /// Halves the gap between neighbours whose plans differ, while there is time for another point.
  Result<void> refine() {
    while (points_.size() < options_.most_points && !is_stopped() && !points_.empty()) {
      const double each_s = elapsed_s() / static_cast<double>(points_.size());
      if (left_s(kPointsShare) < each_s) return {};
      std::vector<PlannedPoint> planned;
      for (const TunedPoint& point : points_) planned.push_back({point.sample.point, &point.plan.plan});
      const std::optional<ShapePoint> next = widest_gap(planned, tried_);
      if (!next) return {};
      tried_.push_back(*next);
      COLLAGE_TRY_VOID(tune_point({.point = *next}, each_s));
    }
    return {};
  }

  // ---- the generic plan ------------------------------------------------------------------------------------
  /// Every engine with open dimensions against every case, on the case's record; after a stop one engine against one.
  Result<void> measure_generic() {
    const bool is_hurried = is_stopped();
    COLLAGE_TRY(generics_, make_generic_plans(model_, options_.tune, is_hurried ? 1 : kAllGenericPlans, registry_,
                                              worker_, folder_, notes_));
    if (options_.tune.progress) options_.tune.progress({.phase = "rivals", .note = "engines with open dimensions"});
    std::vector<PlanToTime> plans;
    for (std::size_t g = 0; g < generics_.size(); ++g) {
      const std::string file = folder_.file(fmt::format("generic{}.collage", g));
      COLLAGE_TRY_VOID(save_plan(generics_[g].plan, file, Durability::kPassing));
      plans.push_back({.name = generics_[g].name, .file = file});
    }
    const double seconds = std::clamp(left_s(1) / static_cast<double>(points_.size()), 0.2, 3.0);
    for (TunedPoint& point : points_) {
      const bool is_measured = !is_stopped() || &point == &points_.front();
      if (is_measured)
        measure_generic_at(point, plans, seconds);
      else
        point.times.case_us = point.report.measured_us;
    }
    return {};
  }

  /// A stop that came before has been heard: what is measured then makes the plan complete. One that comes now leaves
  /// the case with the time of its own tune.
  void measure_generic_at(TunedPoint& point, std::vector<PlanToTime> plans, double seconds) {
    plans.push_back({.name = kCaseLane, .file = point.file});
    const std::stop_token stop = is_stopped() ? std::stop_token() : options_.tune.stop;
    const auto timed = confirm_isolating(
        {.plans = std::move(plans),
         .inputs = point.inputs,
         .expected = point.outputs,
         .accuracy = to_string(options_.tune.output_bound()),
         .threads = options_.tune.threads,
         .seconds = seconds,
         .min_rounds = 5,
         .seed = options_.tune.seed},
        [&](const ConfirmRequest& request) { return confirm(worker_, request, stop, std::chrono::minutes(5)); }, false);
    if (!timed)
      point.times.case_us = point.report.measured_us;
    else if (timed->are_paired)
      take(point, timed->lanes);
    else
      for (const ConfirmLane& lane : timed->lanes) take(point, {lane});
  }

  void take(TunedPoint& point, const std::vector<ConfirmLane>& lanes) {
    take_times(lanes, point.times);
    for (const ConfirmLane& lane : lanes) {
      if (lane.failure.empty()) continue;
      const std::string who = lane.lane.name == kCaseLane ? "the plan" : lane.lane.name + ", dimensions open,";
      notes_.push_back(fmt::format("{} failed at {}: {}", who, to_string(domain_, point.sample.point), lane.failure));
    }
  }

  // ---- result ----------------------------------------------------------------------------------------------
  /// Plans that failed, as notes say, and those that the generic plan beats at their own point.
  void drop_useless_cases(const std::string& generic) {
    std::erase_if(points_, [&](const TunedPoint& point) {
      const auto lead = point.times.lead.find(generic);
      const bool is_beaten = lead != point.times.lead.end() && lead->second > kClearLead;
      if (is_beaten)
        notes_.push_back(fmt::format("the generic plan is faster at {}: {:.1f} us instead of {:.1f} us, and serves it",
                                     to_string(domain_, point.sample.point), point.times.generic_us.at(generic),
                                     point.times.case_us));
      return is_beaten || point.times.case_us == 0;
    });
  }

  static void add_case(TunedPoint point, ShapesReport& report, PlanCases& cases) {
    const auto found = point.times.generic_us.find(report.generic);
    const double generic_us = found == point.times.generic_us.end() ? 0 : found->second;
    point.report.interrupted = false;  // the whole says it
    cases.cases.push_back({.point = point.sample.point,
                           .weight = point.sample.weight,
                           .measured_us = point.times.case_us,
                           .generic_us = generic_us,
                           .plan = std::move(point.plan)});
    report.cases.push_back({.sample = std::move(point.sample),
                            .generic_us = generic_us,
                            .case_us = point.times.case_us,
                            .report = std::move(point.report)});
  }

  Result<ShapesReport> ship() {
    ShapesReport report{
        .plan = options_.tune.output, .model = options_.tune.name_of_model(), .threads = options_.tune.threads};
    report.domain = domain_;
    std::ranges::sort(points_, {}, [](const TunedPoint& point) { return point.sample.point; });
    std::vector<PointTimes> times;
    for (const TunedPoint& point : points_) times.push_back(point.times);
    report.generic_times = mean_times(times);
    report.generic = fastest(report.generic_times).value_or("");
    PlanCases cases{.domain = domain_, .inputs = model_.inputs};
    for (GenericPlan& generic : generics_)
      if (generic.name == report.generic) cases.generic = std::move(generic.plan);
    if (!cases.generic)
      notes_.push_back("no engine takes this model with open dimensions: the plan serves its cases only");
    drop_useless_cases(report.generic);
    if (points_.empty() && !cases.generic)
      return fail(ExitCode::kUnsupported, kNothingRuns, options_.tune.name_of_model(), notes_.back(),
                  "at least one plan that runs");
    for (TunedPoint& point : points_) add_case(std::move(point), report, cases);
    cases.generic_engine = report.generic;
    cases.generic_times_us = report.generic_times;
    COLLAGE_TRY_VOID(share_weights(cases, relocate_external_data));
    COLLAGE_TRY_VOID(save_cases(cases, options_.tune.output));
    report.notes = std::move(notes_);
    report.interrupted = is_stopped();
    report.tune_s = elapsed_s();
    return report;
  }

  static constexpr double kLadderShare = 0.7;  ///< of the budget for the ladder when points between may follow
  static constexpr double kPointsShare = 0.9;  ///< the rest is for the generic plans
  static constexpr double kClearLead = 1.02;
  static constexpr double kLeastBudget = 1;  ///< seconds; a tune that has less overruns it

  const ShapesOptions& options_;
  const ShapeDomain domain_;
  Registry& registry_;
  WorkFolder folder_;
  WorkerProcess worker_;
  const Clock::time_point start_ = Clock::now();
  OpenModel model_;
  std::size_t tuned_ = 0;
  std::vector<TunedPoint> points_;
  std::vector<ShapePoint> tried_;  ///< between the points of the ladder
  std::vector<GenericPlan> generics_;
  std::optional<Error> first_error_;
  std::vector<std::string> notes_;
};

}  // namespace

bool has_ranges(const ShapeBindings& bindings) {
  return std::ranges::any_of(bindings.entries, [](const auto& entry) { return is_range(entry.second); });
}

Result<ShapesReport> tune_shapes(const ShapesOptions& options, Registry& registry) {
  COLLAGE_TRY(ShapeDomain domain, domain_of(options.tune.shapes));
  COLLAGE_TRY_VOID(check_can_save(options.tune.output));
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  return ShapesTuner(options, std::move(domain), registry, std::move(folder)).run();
}

}  // namespace collage
