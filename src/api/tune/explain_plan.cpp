#include "api/tune/explain_plan.h"

#include "api/tune/page/plan_page.h"
#include "api/tune/plan_origin.h"
#include "api/tune/shape_choice.h"
#include "base/json_numbers.h"
#include "plan/explain/explain.h"
#include "plan/explain/explain_cases.h"
#include "plan/explain/explain_node.h"
#include "plan/explain/plan_dot.h"
#include "plan/explain/why_not.h"
#include "plan/file/cases_file.h"

namespace collage {

namespace {

Result<void> answer_what_if(const RealisedPlan& plan, const ExplainOptions& options, Registry& registry,
                            ExplainReport& report) {
  COLLAGE_TRY(const Explanation explanation, explanation_in(plan.plan));
  std::vector<WhatIfRule> rules;
  for (const std::string& text : options.what_if) {
    COLLAGE_TRY(WhatIfRule rule, parse_what_if(explanation, text));
    rules.push_back(std::move(rule));
  }
  COLLAGE_TRY(const WhatIf answer, what_if(explanation, rules));
  std::optional<MeasuredWhatIf> times;
  if (options.measure) {
    COLLAGE_TRY(times, measure_what_if(plan, rules, *options.measure, registry));
  }
  report.text = to_text(answer, times);
  report.json = to_json(answer, times);
  return {};
}

/// Behind the first line, which says what the plan is.
std::string with_origin(std::string text, const PlanOrigin& origin) {
  return text.insert(text.find('\n') + 1, to_text(origin) + "\n");
}

}  // namespace

Result<ExplainReport> explain_plan(const ExplainOptions& options, Registry& registry) {
  COLLAGE_TRY(const PlanCases cases, load_cases(options.plan, Checked::kEverything, options.signers));
  const PlanOrigin origin = origin_of(options.plan, cases);
  const bool is_about_all = options.shapes.entries.empty() && options.node.empty() && options.why_not.empty() &&
                            options.what_if.empty() && !options.wants_files();
  if (!cases.domain.dimensions.empty() && is_about_all)
    return ExplainReport{.text = with_origin(explain_as_text(cases), origin),
                         .json = explain_as_json(cases, to_json(origin))};
  COLLAGE_TRY(const ShapePoint point, choose_point(cases, options.shapes, {}));
  COLLAGE_TRY(const RealisedPlan realised, plan_at(cases, point));
  ExplainReport report;
  if (options.wants_page) report.page = plan_page(realised.plan);
  if (options.wants_dot) report.dot = plan_as_dot(realised.plan);
  if (options.wants_onnx) report.onnx = realised.onnx.text();
  if (!options.what_if.empty()) {
    COLLAGE_TRY_VOID(answer_what_if(realised, options, registry, report));
    return report;
  }
  if (options.why_not.empty()) {
    COLLAGE_TRY(std::string text, explain_as_text(realised.plan, options.node));
    report.text = with_origin(std::move(text), origin);
    COLLAGE_TRY(report.json, explain_as_json(realised.plan, options.node, to_json(origin)));
    return report;
  }
  COLLAGE_TRY(const WhyNotQuestion question, parse_why_not(realised.plan, options.why_not, registry.kinds()));
  COLLAGE_TRY(report.text, why_not_as_text(realised.plan, question));
  COLLAGE_TRY(report.json, why_not_as_json(realised.plan, question));
  return report;
}

}  // namespace collage
