#include "api/tune/page/plan_page.h"

#include "api/tune/page/fill_page.h"
#include "base/clock.h"
#include "base/json_numbers.h"
#include "plan/explain/explain.h"
#include "plan/explain/explain_node.h"
#include "plan/explain/step_work.h"
#include "plan/file/plan_report_json.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

ordered_json step_facts(const PlanStep& step, const StepWork& work) {
  ordered_json facts = {{"kind", kind_name(step)},
                        {"backend", step.backend},
                        {"variant", step.variant},
                        {"us", to_us(step.cost_ns)},
                        {"low_us", to_us(step.cost_low_ns)},
                        {"high_us", to_us(step.cost_high_ns)},
                        {"estimated", step.is_estimated},
                        {"nodes", nodes_of(step).names},
                        {"constant_bytes", work.weight_bytes},
                        {"flops", work.flops},
                        {"bytes", work.bytes},
                        {"in", step.inputs},
                        {"out", step.outputs}};
  if (work.roofline_us) facts["roofline_us"] = *work.roofline_us;
  if (!step.runner_up.empty()) facts["runner_up"] = step.runner_up;
  if (const Workspace space = workspace_of(step); space.bytes > 0) facts["workspace"] = {space.offset, space.bytes};
  std::size_t inside = 0;
  for (const PlanBody& body : bodies_of(step)) inside += step_count(body);
  if (inside > 0) facts["bodies"] = inside;
  return facts;
}

ordered_json value_facts(const PlanValue& value) {
  return {{"name", value.name},     {"type", to_string(value.type)},     {"format", value.place.format.name},
          {"offset", value.offset}, {"storage", name_of(value.storage)}, {"bytes", value.bytes}};
}

/// What is known of a candidate, in the words of the text report.
std::string words_of(const ExplainedCandidate& candidate) {
  const std::string margin = describe_margin(candidate);
  const std::string_view why = describe(candidate.why_unmeasured);
  return describe(candidate) + (margin.empty() ? "" : "; " + margin) +
         (why.empty() ? "" : ", because " + std::string(why));
}

/// As in the plan file, but for candidates and refusals, which are words here.
ordered_json explanation_facts(const Explanation& explanation) {
  ordered_json facts = explanation_to_json(explanation);
  for (const char* key : {"candidates", "refusals"}) facts[key] = ordered_json::array();
  facts.erase("problem");
  for (ordered_json& node : facts["nodes"])
    for (const char* key : {"inputs", "outputs"}) node.erase(key);
  for (const ExplainedCandidate& candidate : explanation.candidates) facts["candidates"].push_back(words_of(candidate));
  for (const ExplainedRefusal& refusal : explanation.refusals) facts["refusals"].push_back(describe(refusal));
  return facts;
}

ordered_json plan_facts(const Plan& plan) {
  const PlanReport report = plan.report.value_or(PlanReport());
  const StepCounts counts = count_steps(plan);
  ordered_json facts = {{"model", plan.model_path},
                        {"machine", plan.machine},
                        {"accuracy", plan.accuracy},
                        {"threads", plan.threads},
                        {"ships", report.explanation ? report.explanation->plan : plan.shipped},
                        {"measured_us", report.search.measured_us},
                        {"step_count", counts.steps},
                        {"step_backends", counts.backends},
                        {"plans", plans_as_json(report)},
                        {"arena_bytes", plan.arena_bytes},
                        {"weights_bytes", plan.weights_bytes},
                        {"steps", ordered_json::array()},
                        {"values", ordered_json::array()}};
  const std::vector<StepWork> works = work_of_steps(plan, report.explanation.value_or(Explanation()));
  for (std::size_t s = 0; s < plan.steps.size(); ++s) facts["steps"].push_back(step_facts(plan.steps[s], works[s]));
  for (const PlanValue& value : plan.values) facts["values"].push_back(value_facts(value));
  if (report.explanation) facts["explanation"] = explanation_facts(*report.explanation);
  return facts;
}

}  // namespace

std::string plan_page(const Plan& plan) { return filled_page(plan_page_files(), plan_facts(plan)); }

}  // namespace collage
