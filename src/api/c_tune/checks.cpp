#include "api/c_tune/checks.h"

#include <algorithm>

#include "api/c/sized_struct.h"
#include "api/c_tune/context.h"
#include "api/c_tune/report.h"
#include "api/c_tune/texts.h"
#include "api/tune/bench_shapes.h"
#include "api/tune/explain_plan.h"
#include "api/tune/find_backends.h"
#include "api/tune/option_texts.h"
#include "api/tune/recheck.h"
#include "api/tune/verify.h"

namespace collage::c_api {
namespace {

constexpr int kMostSeeds = 1000;

std::string bench_member(const std::string& name) { return "collage_bench_options." + name; }
std::string check_member(const std::string& name) { return "collage_check_options." + name; }

std::optional<std::string> optional_path(const char* given) {
  return given == nullptr ? std::nullopt : std::optional<std::string>(given);
}

Result<BenchOptions> bench_options_from(const collage_bench_options& given, const Context& context) {
  BenchOptions options;
  COLLAGE_TRY(options.plan, path_of(given.plan, bench_member("plan")));
  options.model = optional_path(given.model);
  COLLAGE_TRY(const auto shapes, texts_of(given.shapes, bench_member("shapes")));
  COLLAGE_TRY(options.shapes, parse_shape_bindings(shapes));
  COLLAGE_TRY(const auto against, texts_of(given.against, bench_member("against")));
  if (!against.empty()) options.against = against;
  COLLAGE_TRY(options.threads, count_of(given.threads, 0, kMostThreads, bench_member("threads")));
  COLLAGE_TRY(options.seconds, seconds_of(given.seconds, options.seconds, bench_member("seconds")));
  options.seed = seed_of(given.seed);
  COLLAGE_TRY(const auto ranges, texts_of(given.input_ranges, bench_member("input_ranges")));
  COLLAGE_TRY(options.input_ranges, input_ranges_from(ranges, option_label(bench_member("input_ranges"))));
  COLLAGE_TRY(options.reader, context.model_reader());
  options.progress = context.progress;
  options.stop = context.stop;
  return options;
}

/// `check` gets the options that verify, recheck and explain have in common, read.
template <class Check>
collage_status* answer_check(const char* function, const collage_check_options* options, collage_report** report,
                             Check&& check) noexcept {
  return answer_report(function, report, [&]() -> Result<collage_report> {
    COLLAGE_TRY_VOID(check_not_null(options, "options"));
    COLLAGE_TRY(const collage_check_options given, options_of(options, "collage_check_options"));
    COLLAGE_TRY(const Context context, context_of(given.context));
    COLLAGE_TRY_VOID(path_of(given.plan, check_member("plan")));
    Registry registry(context.places());
    return check(given, context, registry);
  });
}

Result<ShapeBindings> shapes_of(const collage_check_options& given) {
  COLLAGE_TRY(const auto shapes, texts_of(given.shapes, check_member("shapes")));
  return parse_shape_bindings(shapes);
}

}  // namespace

collage_status* bench_plan(const collage_bench_options* options, collage_report** report) noexcept {
  return answer_report("bench", report, [&]() -> Result<collage_report> {
    COLLAGE_TRY_VOID(check_not_null(options, "options"));
    COLLAGE_TRY(const collage_bench_options given, options_of(options, "collage_bench_options"));
    COLLAGE_TRY(const Context context, context_of(given.context));
    COLLAGE_TRY(const BenchOptions parsed, bench_options_from(given, context));
    Registry registry(context.places());
    if (given.against.count > 0) COLLAGE_TRY_VOID(check_rivals(parsed.against, registry));
    COLLAGE_TRY(const std::vector<BenchReport> reports, bench_shapes(parsed, registry));
    return collage_report{
        .json = to_json(reports), .text = to_text(reports), .is_ok = std::ranges::none_of(reports, has_wrong_plan)};
  });
}

collage_status* verify_plan(const collage_check_options* options, collage_report** report) noexcept {
  return answer_check(
      "verify", options, report,
      [](const collage_check_options& given, const Context& context, Registry& registry) -> Result<collage_report> {
        VerifyOptions asked{.plan = given.plan, .model = optional_path(given.model), .seed = seed_of(given.seed)};
        COLLAGE_TRY(asked.reader, context.model_reader());
        COLLAGE_TRY(asked.shapes, shapes_of(given));
        COLLAGE_TRY(asked.seeds, count_of(given.seeds, 1, kMostSeeds, check_member("seeds")));
        COLLAGE_TRY(const auto ranges, texts_of(given.input_ranges, check_member("input_ranges")));
        COLLAGE_TRY(asked.input_ranges, input_ranges_from(ranges, option_label(check_member("input_ranges"))));
        COLLAGE_TRY(const VerifyReport made, collage::verify_plan(asked, registry));
        return collage_report{.json = to_json(made), .text = to_text(made), .is_ok = made.ok};
      });
}

collage_status* recheck_plan(const collage_check_options* options, collage_report** report) noexcept {
  return answer_check(
      "recheck", options, report,
      [](const collage_check_options& given, const Context& context, Registry& registry) -> Result<collage_report> {
        RecheckOptions asked{.plan = given.plan,
                             .model = optional_path(given.model),
                             .always = given.always != 0,
                             .seed = seed_of(given.seed),
                             .stop = context.stop};
        COLLAGE_TRY(asked.worker_command, context.worker_argv());
        COLLAGE_TRY(asked.reader, context.model_reader());
        COLLAGE_TRY(const RecheckReport made, recheck(asked, registry));
        const bool is_fit = made.fitness == Fitness::kSame || made.fitness == Fitness::kUsable;
        return collage_report{.json = to_json(made), .text = to_text(made), .is_ok = is_fit};
      });
}

collage_status* explain_plan(const collage_check_options* options, collage_report** report) noexcept {
  return answer_check(
      "explain", options, report,
      [](const collage_check_options& given, const Context&, Registry& registry) -> Result<collage_report> {
        if (given.node != nullptr && given.why_not != nullptr)
          return bad_option(option_label(check_member("why_not")), "a node, too", "node or why_not");
        ExplainOptions asked{
            .plan = given.plan, .shapes = {}, .node = text_of(given.node), .why_not = text_of(given.why_not)};
        COLLAGE_TRY(asked.shapes, shapes_of(given));
        COLLAGE_TRY(ExplainReport made, collage::explain_plan(asked, registry));
        return collage_report{.json = std::move(made.json), .text = std::move(made.text)};
      });
}

collage_status* list_backends(const collage_context* context, collage_report** report) noexcept {
  return answer_report("backends", report, [&]() -> Result<collage_report> {
    COLLAGE_TRY(const Context known, context_of(context));
    Registry registry(known.places());
    COLLAGE_TRY(const std::vector<std::string> worker, known.worker_argv());
    COLLAGE_TRY(const FoundBackends found, find_backends(worker, known.store, registry));
    return collage_report{.json = to_json(found), .text = to_text(found)};
  });
}

}  // namespace collage::c_api
