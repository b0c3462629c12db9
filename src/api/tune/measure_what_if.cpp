#include "api/tune/measure_what_if.h"

#include "api/tune/source_model.h"
#include "base/clock.h"
#include "base/work_folder.h"
#include "plan/explain/explain_node.h"
#include "tune/plan_settings.h"

namespace collage {
namespace {

/// Exactly this node, whatever signs of globs its name holds.
std::string glob_of(const std::string& name) {
  std::string glob;
  for (const char c : name) {
    if (std::string_view("*?[\\").contains(c)) glob += '\\';
    glob += c;
  }
  return glob;
}

Result<std::vector<NodeRule>> pins_of(std::span<const WhatIfRule> rules) {
  std::vector<NodeRule> pins;
  for (const WhatIfRule& rule : rules) {
    if (!rule.variant.empty())
      return fail(ExitCode::kUsage, "cli/bad-option", "--measure", rule.backend + "/" + rule.variant,
                  "a backend alone: which variant it takes is for the tune to measure");
    pins.push_back({.kind = NodeRule::Kind::kPin, .glob = glob_of(rule.node), .backend = rule.backend});
  }
  return pins;
}

}  // namespace

Result<MeasuredWhatIf> measure_what_if(const RealisedPlan& plan, std::span<const WhatIfRule> rules,
                                       const MeasureWhatIfOptions& options, Registry& registry) {
  COLLAGE_TRY(const Explanation explanation, explanation_in(plan.plan));
  const std::string model = options.model.value_or(plan.plan.model_path);
  COLLAGE_TRY(const WorkFolder folder, WorkFolder::create());
  TuneOptions tuning = with_settings_of(plan.plan, {});
  tuning.model = model;
  tuning.worker_command = options.worker_command;
  tuning.reader = options.reader;
  COLLAGE_TRY_VOID(find_source_model(plan, model, registry, options.reader));  // another model would be another race
  tuning.output = folder.file("other.collage");
  tuning.backends = explanation.backends;
  COLLAGE_TRY(tuning.rules, pins_of(rules));
  for (const ExplainedRule& rule : explanation.rules)
    tuning.rules.push_back({.kind = rule.is_pin ? NodeRule::Kind::kPin : NodeRule::Kind::kBan,
                            .glob = rule.glob,
                            .backend = rule.backend});
  if (!explanation.user_rules.empty())
    return fail(ExitCode::kUsage, "cli/bad-option", "--measure", "a plan that was tuned with --rules",
                "a plan without: tune the model with these rules and --pin, then `collage bench`");
  tuning.store = options.store;
  tuning.budget_s = options.budget_s;
  tuning.progress = options.progress;
  tuning.stop = options.stop;
  COLLAGE_TRY(const TuneReport tuned, tune(tuning, registry));
  COLLAGE_TRY(const BenchReport report, bench({.plan = tuning.output,
                                               .rival_signers = options.signers,
                                               .reader = options.reader,
                                               .model = model,
                                               .against = {options.plan},
                                               .seconds = options.seconds,
                                               .progress = options.progress,
                                               .stop = options.stop},
                                              registry));
  if (report.ratios.empty() || report.interrupted)
    return fail(ExitCode::kInterrupted, "bench/interrupted", options.plan, "a race without an end", "a race");
  for (const BenchContender& contender : report.contenders)
    if (contender.numbers.is_wrong())
      return fail(ExitCode::kDifference, "bench/wrong-numbers", contender.name, contender.numbers.detail,
                  "the numbers of the reference");
  return MeasuredWhatIf{.who = tuned.title,
                        .us = to_us(report.contenders.front().lane.median_ns()),
                        .plan_us = to_us(report.contenders.back().lane.median_ns()),
                        .faster = report.ratios.front().ratio};
}

}  // namespace collage
