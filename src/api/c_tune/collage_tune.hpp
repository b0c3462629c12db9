// Tuning for programs in C++17 and later: the table of collage_tune.h behind types that own what they hold.
// In: ONNX models, plan files, options. Out: plan files, reports, plans ready to run (collage.hpp).
//
//     collage::TuneOptions options;
//     options.model = "model.onnx";
//     options.plan = "model.collage";
//     options.budget_s = 60;
//     options.context.progress = [](const collage::TuneProgress& now) { std::cerr << now.phase << '\n'; };
//     collage::Expected<collage::TuneReport> report = collage::tune(options);
//     if (!report) return fail(report.error());
//     std::cout << report->text();
//
// Errors are values, as in collage.hpp. Options that are empty, 0 or nothing mean the default.
// Threads: as in collage_tune.h. What callbacks are given is valid during their call; they throw nothing.
#ifndef COLLAGE_TUNE_HPP
#define COLLAGE_TUNE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collage.hpp"
#include "collage_tune.h"
#include "collage_tune_options.hpp"

namespace collage {
inline namespace capi {
inline namespace COLLAGE_CPP_LEVEL {

/// What a call found out.
class Report {
 public:
  explicit Report(collage_report* handle) : handle_(handle) {}
  /// With "schema", as `--json` of the command of the same name.
  [[nodiscard]] std::string json() const { return detail::tune_api()->report_json(handle_.get()); }
  [[nodiscard]] std::string text() const { return detail::tune_api()->report_text(handle_.get()); }
  /// False: a check found a difference.
  [[nodiscard]] bool ok() const noexcept { return detail::tune_api()->report_ok(handle_.get()) != 0; }
  [[nodiscard]] const collage_report* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(collage_report* report) const noexcept { detail::tune_api()->report_free(report); }
  };
  std::unique_ptr<collage_report, Free> handle_;
};

/// The report of a tune with its numbers. With ranges counts are sums over all shapes, and what belongs to one shape is
/// 0.
class TuneReport : public Report {
 public:
  explicit TuneReport(collage_report* handle) : Report(handle) {
    collage_tune_summary known{};
    known.size = sizeof known;
    if (collage_status* const status = detail::tune_api()->report_tune_summary(handle, &known)) {
      detail::api()->status_free(status);
      return;
    }
    tune_s = known.tune_s;
    measured_us = known.measured_us;
    best_rival_us = known.best_rival_us;
    model_bound_us = known.model_bound_us;
    proven_bound_us = known.proven_bound_us;
    steps = known.steps;
    candidates = known.candidates;
    measured = known.measured;
    reused = known.reused;
    refused = known.refused;
    interrupted = known.interrupted != 0;
    best_rival = known.best_rival;
    shipped = known.shipped;
  }

  double tune_s = 0;
  double measured_us = 0;    ///< of the plan, end to end; 0 = not measured
  double best_rival_us = 0;  ///< of the fastest whole-model engine; 0 = none
  double model_bound_us = 0;
  double proven_bound_us = 0;
  std::size_t steps = 0;
  std::size_t candidates = 0;
  std::size_t measured = 0;
  std::size_t reused = 0;
  std::size_t refused = 0;
  bool interrupted = false;  ///< the plan is the best found before it was cancelled
  std::string best_rival;    ///< "" = none
  std::string shipped;       ///< "cover" or a rival's name
};

namespace detail {

/// Null for an empty text.
inline const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

/// A list of texts as C sees it, while the list lives.
class TextList {
 public:
  explicit TextList(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) items_.push_back(text.c_str());
  }
  operator collage_texts() const noexcept { return {items_.data(), items_.size()}; }

 private:
  std::vector<const char*> items_;
};

/// A TuneContext as C sees it, while both live.
class ContextView {
 public:
  explicit ContextView(const TuneContext& of) : modules_(of.modules), worker_(of.worker), limits_(of.limits) {
    given_.size = sizeof given_;
    given_.store = text_or_null(of.store);
    given_.modules = modules_;
    given_.worker = worker_;
    if (of.progress) given_.progress = tell;
    given_.progress_data = const_cast<TuneContext*>(&of);
    if (of.cancel) given_.cancel = of.cancel->handle();
    given_.trust_models = of.trust_models ? 1 : 0;
    given_.limits = limits_;
  }
  ContextView(const ContextView&) = delete;
  ContextView& operator=(const ContextView&) = delete;
  [[nodiscard]] const collage_context* get() const noexcept { return &given_; }

 private:
  static void tell(const collage_progress* now, void* context) noexcept {
    TuneProgress event{now->phase,   now->done, now->total, now->refused, now->best_us,
                       std::nullopt, now->note, now->rival, now->speedup};
    if (now->left_s >= 0) event.left_s = now->left_s;
    static_cast<const TuneContext*>(context)->progress(event);
  }

  TextList modules_;
  TextList worker_;
  TextList limits_;
  collage_context given_{};
};

/// TuneOptions::estimate as C calls it.
inline std::int32_t estimate(const char* candidate, double* us, void* options) noexcept {
  const std::optional<double> known = static_cast<const TuneOptions*>(options)->estimate(candidate);
  if (known) *us = *known;
  return known ? 1 : 0;
}

/// An entry of the table that gives a report.
template <class Options>
using ReportCall = collage_status* (*collage_tune_api::*)(const Options*, collage_report**);

template <class Made, class Options>
Expected<Made> report_of(ReportCall<Options> call, const Options* options) {
  if (Expected<void> fits = check_tuner(); !fits) return Unexpected(std::move(fits.error()));
  collage_report* report = nullptr;
  if (collage_status* const status = (tune_api()->*call)(options, &report)) return Unexpected(error_of(status));
  return Made(report);
}

inline Expected<Report> check(ReportCall<collage_check_options> call, const CheckOptions& options) {
  const ContextView context(options.context);
  const TextList shapes(options.shapes);
  const TextList ranges(options.input_ranges);
  collage_check_options given{};
  given.size = sizeof given;
  given.plan = text_or_null(options.plan);
  given.model = text_or_null(options.model);
  given.shapes = shapes;
  given.seeds = options.seeds;
  given.seed = options.seed;
  given.always = options.always ? 1 : 0;
  given.input_ranges = ranges;
  given.context = context.get();
  given.node = text_or_null(options.node);
  given.why_not = text_or_null(options.why_not);
  return report_of<Report>(call, &given);
}

}  // namespace detail

/// Measures, chooses, writes the plan.
inline Expected<TuneReport> tune(const TuneOptions& options) {
  const detail::ContextView context(options.context);
  const detail::TextList shapes(options.shapes), at(options.at), backends(options.backends), bans(options.bans),
      pins(options.pins), passes_off(options.passes_off), input_ranges(options.input_ranges);
  collage_tune_options given{};
  given.size = sizeof given;
  given.model = detail::text_or_null(options.model.path);
  given.model_bytes = options.model.bytes;
  given.model_byte_count = options.model.byte_count;
  given.plan = detail::text_or_null(options.plan);
  given.budget_s = options.budget_s;
  given.schedule_budget_s = options.schedule_budget_s;
  given.threads = options.threads;
  given.accuracy = detail::text_or_null(options.accuracy);
  given.shapes = shapes;
  given.at = at;
  given.points = options.points;
  given.backends = backends;
  given.only = detail::text_or_null(options.only);
  given.bans = bans;
  given.pins = pins;
  given.rules = detail::text_or_null(options.rules);
  given.rules_text = detail::text_or_null(options.rules_text);
  given.passes_off = passes_off;
  given.input_ranges = input_ranges;
  given.seed = options.seed;
  given.memory_cap = options.memory_cap;
  given.measure_all = options.measure_all ? 1 : 0;
  given.for_library = options.for_library ? 1 : 0;
  given.portable = options.portable ? 1 : 0;
  given.context = context.get();
  if (options.estimate) given.estimate = detail::estimate;
  given.estimate_data = const_cast<TuneOptions*>(&options);
  given.estimates_only = options.estimates_only ? 1 : 0;
  return detail::report_of<TuneReport>(&collage_tune_api::tune, &given);
}

/// A model as a plan of one step that is ready to run, without measuring: one engine takes it whole.
inline Expected<Plan> plan_of_model(const ModelOptions& options) {
  if (Expected<void> fits = detail::check_tuner(); !fits) return Unexpected(std::move(fits.error()));
  const detail::ContextView context(options.context);
  const detail::TextList shapes(options.shapes);
  collage_model_options given{};
  given.size = sizeof given;
  given.model = detail::text_or_null(options.model.path);
  given.model_bytes = options.model.bytes;
  given.model_byte_count = options.model.byte_count;
  given.threads = options.threads;
  given.shapes = shapes;
  given.context = context.get();
  collage_plan* plan = nullptr;
  if (collage_status* const status = detail::tune_api()->plan_of_model(&given, &plan))
    return Unexpected(detail::error_of(status));
  return Plan::take(plan);
}

/// Times a plan or model against whole-model engines; ok() says whether the plan's numbers are right.
inline Expected<Report> bench(const BenchOptions& options) {
  const detail::ContextView context(options.context);
  const detail::TextList shapes(options.shapes), against(options.against), input_ranges(options.input_ranges);
  collage_bench_options given{};
  given.size = sizeof given;
  given.plan = detail::text_or_null(options.plan);
  given.model = detail::text_or_null(options.model);
  given.shapes = shapes;
  given.against = against;
  given.threads = options.threads;
  given.seconds = options.seconds;
  given.seed = options.seed;
  given.input_ranges = input_ranges;
  given.context = context.get();
  return detail::report_of<Report>(&collage_tune_api::bench, &given);
}

/// Compares a plan with the reference; ok() says whether all outputs agree.
inline Expected<Report> verify(const CheckOptions& options) {
  return detail::check(&collage_tune_api::verify, options);
}

/// Whether a plan still fits this machine; ok(): it need not be tuned again.
inline Expected<Report> recheck(const CheckOptions& options) {
  return detail::check(&collage_tune_api::recheck, options);
}

/// Who runs what and why.
inline Expected<Report> explain(const CheckOptions& options) {
  return detail::check(&collage_tune_api::explain, options);
}

/// The backends found, their versions, and why others are not usable.
inline Expected<Report> backends(const TuneContext& context = {}) {
  const detail::ContextView known(context);
  return detail::report_of<Report>(&collage_tune_api::backends, known.get());
}

}  // namespace COLLAGE_CPP_LEVEL
}  // namespace capi
}  // namespace collage

#endif
