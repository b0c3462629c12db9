#include "api/c_tune/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/c/sized_struct.h"
#include "api/c_tune/context.h"
#include "api/c_tune/estimates.h"
#include "api/c_tune/model_source.h"
#include "api/c_tune/report.h"
#include "api/c_tune/texts.h"
#include "api/tune/option_texts.h"
#include "api/tune/store_place.h"
#include "tune/report/rule_operators.h"
#include "tune/shapes/tune_shapes.h"
#include "tune/tune.h"

namespace collage::c_api {
namespace {

constexpr int kMostPoints = 256;

std::string member(const std::string& name) { return "collage_tune_options." + name; }

Result<UserRules> user_rules_of(const collage_tune_options& given) {
  if (given.rules == nullptr && given.rules_text == nullptr) return UserRules();
  if (given.rules != nullptr && given.rules_text != nullptr)
    return bad_option(option_label(member("rules")), "a file and a text", "rules or rules_text");
  COLLAGE_TRY(UserRules rules,
              given.rules != nullptr ? read_user_rules(given.rules) : parse_user_rules(given.rules_text, "rules_text"));
  COLLAGE_TRY_VOID(check_rule_operators(rules));
  return rules;
}

/// What limits the plan: where, how exact, how much.
Result<void> read_limits(const collage_tune_options& given, TuneOptions& options) {
  COLLAGE_TRY(options.threads, count_of(given.threads, 1, kMostThreads, member("threads")));
  COLLAGE_TRY(options.budget_s, seconds_of(given.budget_s, options.budget_s, member("budget_s")));
  COLLAGE_TRY(options.tune_budget_s, seconds_of(given.schedule_budget_s, 0, member("schedule_budget_s")));
  const std::string accuracy = given.accuracy == nullptr ? "standard" : given.accuracy;
  COLLAGE_TRY(options.bound, accuracy_from(accuracy, option_label(member("accuracy"))));
  options.accuracy = options.bound->accuracy;
  if (given.memory_cap < 0)
    return bad_option(option_label(member("memory_cap")), fmt::format("{}", given.memory_cap), "bytes, not below 0");
  options.objective.memory_cap = given.memory_cap;
  options.seed = seed_of(given.seed);
  COLLAGE_TRY(const auto shapes, texts_of(given.shapes, member("shapes")));
  COLLAGE_TRY(options.shapes, parse_shape_bindings(shapes));
  COLLAGE_TRY(const auto ranges, texts_of(given.input_ranges, member("input_ranges")));
  COLLAGE_TRY(options.input_ranges, input_ranges_from(ranges, option_label(member("input_ranges"))));
  return {};
}

/// Who may do what. Nothing among the named: the usual ones.
Result<void> read_choices(const collage_tune_options& given, const Context& context, const Registry& registry,
                          TuneOptions& options) {
  COLLAGE_TRY(const auto backends, texts_of(given.backends, member("backends")));
  const auto named = backends.empty() ? std::nullopt : std::optional(backends);
  options.backends = backends_from(named, context.module_kinds);
  const std::string only = text_of(given.only);
  if (!only.empty()) options.only = only;
  COLLAGE_TRY_VOID(check_only(only, named, registry, option_label(member("backends")), member("only")));
  COLLAGE_TRY(const auto bans, texts_of(given.bans, member("bans")));
  COLLAGE_TRY(const auto pins, texts_of(given.pins, member("pins")));
  COLLAGE_TRY(options.rules, node_rules_from(bans, pins));
  options.required = required_backends(named, context.module_kinds, options.rules);
  COLLAGE_TRY(options.user_rules, user_rules_of(given));
  COLLAGE_TRY(const auto passes, texts_of(given.passes_off, member("passes_off")));
  const std::string switches = passes.empty() ? "" : fmt::format("-{}", fmt::join(passes, ",-"));
  COLLAGE_TRY(options.passes_off, passes_off_from(switches, option_label(member("passes_off"))));
  return {};
}

Result<TuneOptions> options_from(const collage_tune_options& given, const ModelSource& model, const Context& context,
                                 const Registry& registry) {
  for (const auto& [name, value] : {std::pair{"reserved", given.reserved}, {"reserved_too", given.reserved_too}})
    if (value != 0) return fail(ExitCode::kUsage, "api/unknown-option", member(name), std::to_string(value), "0");
  TuneOptions options;
  options.model = model.path();
  options.model_name = model.name();
  COLLAGE_TRY(options.output, path_of(given.plan, member("plan")));
  COLLAGE_TRY_VOID(check_other_file(options.model, options.output, option_label(member("plan"))));
  COLLAGE_TRY_VOID(read_limits(given, options));
  COLLAGE_TRY_VOID(read_choices(given, context, registry, options));
  options.store = store_place(context.store);
  options.repros = repro_place(context.store);
  COLLAGE_TRY(options.worker_command, context.worker_argv());
  COLLAGE_TRY(options.reader, context.model_reader());
  options.progress = context.progress;
  options.stop = context.stop;
  options.estimates = estimates_from(given, options);
  options.measures_all = given.measure_all != 0;
  options.for_library = given.for_library != 0;
  options.portable = given.portable != 0;
  if (options.for_library && has_ranges(options.shapes))
    return bad_option(option_label(member("for_library")), "a range in shapes", "a tune of one shape");
  return options;
}

void add_counts(const TuneReport& report, collage_tune_summary& summary) {
  summary.steps += report.steps;
  summary.candidates += report.candidates;
  summary.measured += report.measured;
  summary.reused += report.reused;
  summary.refused += report.refused;
}

collage_report report_of(const TuneReport& report) {
  collage_tune_summary summary = {.size = sizeof summary,
                                  .tune_s = report.tune_s,
                                  .measured_us = report.measured_us,
                                  .model_bound_us = report.model_bound_us,
                                  .proven_bound_us = report.proven_bound_us,
                                  .interrupted = report.interrupted ? 1 : 0};
  add_counts(report, summary);
  collage_report made{.json = to_json(report), .text = to_text(report), .shipped = report.shipped};
  if (report.shipped != "cover") {
    made.best_rival = report.shipped;
    summary.best_rival_us = report.measured_us;
  } else if (const RivalTime* const engine = best_engine(report)) {
    made.best_rival = engine->name;
    summary.best_rival_us = static_cast<double>(engine->median_ns) / 1000;
  }
  made.summary = summary;
  return made;
}

collage_report report_of(const ShapesReport& report) {
  collage_tune_summary summary = {
      .size = sizeof summary, .tune_s = report.tune_s, .interrupted = report.interrupted ? 1 : 0};
  for (const ShapeReport& one : report.cases) add_counts(one.report, summary);
  return {.json = to_json(report), .text = to_text(report), .summary = summary};
}

Result<collage_report> tune_ranges(const collage_tune_options& given, TuneOptions options, Registry& registry) {
  ShapesOptions shapes{.tune = std::move(options), .asked = {}};
  COLLAGE_TRY(shapes.asked, texts_of(given.at, member("at")));
  COLLAGE_TRY(shapes.most_points, count_of(static_cast<std::int64_t>(given.points), 16, kMostPoints, member("points")));
  COLLAGE_TRY(const ShapesReport report, tune_shapes(shapes, registry));
  return report_of(report);
}

Result<collage_report> tune_one(const collage_tune_options& given, const TuneOptions& options, Registry& registry) {
  if (given.at.count > 0 || given.points > 0)
    return bad_option(option_label(member(given.at.count > 0 ? "at" : "points")), "no range in shapes",
                      "a range in shapes, such as batch=1..8");
  COLLAGE_TRY(const TuneReport report, tune(options, registry));
  return report_of(report);
}

}  // namespace

collage_status* tune_model(const collage_tune_options* options, collage_report** report) noexcept {
  return answer_report("tune", report, [&]() -> Result<collage_report> {
    COLLAGE_TRY_VOID(check_not_null(options, "options"));
    COLLAGE_TRY(const collage_tune_options given, options_of(options, "collage_tune_options"));
    COLLAGE_TRY(const Context context, context_of(given.context));
    COLLAGE_TRY(const ModelSource model,
                ModelSource::from(given.model, given.model_bytes, given.model_byte_count, "collage_tune_options"));
    Registry registry(context.places());
    COLLAGE_TRY(TuneOptions parsed, options_from(given, model, context, registry));
    auto made =
        has_ranges(parsed.shapes) ? tune_ranges(given, std::move(parsed), registry) : tune_one(given, parsed, registry);
    if (!made) return std::unexpected(model.renamed(std::move(made).error()));
    return made;
  });
}

}  // namespace collage::c_api
