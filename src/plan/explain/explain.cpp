#include "plan/explain/explain.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_numbers.h"
#include "plan/explain/explain_cover.h"
#include "plan/explain/explain_json.h"
#include "plan/explain/explain_node.h"
#include "plan/explain/explain_precision.h"
#include "plan/explain/explain_steps.h"
#include "plan/explain/step_work.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

/// What the plan says about its own making; empty when it says nothing.
Explanation explanation_of(const Plan& plan) { return explanation_in(plan).value_or(Explanation()); }

/// "s" unless there is one.
std::string plural(std::size_t count) { return count == 1 ? "" : "s"; }

/// Whether the sums of the explanation are there, and of the plan's own steps.
bool is_of_plan(const Explanation& explanation) {
  return explanation.cover_ns && explanation.plan == explanation.cover &&
         explanation.sum.measured + explanation.sum.estimated > 0;
}

/// What the times of the steps are and what they add up to.
std::string sum_text(const Explanation& explanation) {
  const ExplainedSum& sum = explanation.sum;
  const auto line = [](std::string_view what, std::size_t steps, Nanoseconds ns) {
    return fmt::format("  {:<16} {:>5} steps {:>12.1f} us\n", what, steps, to_us(ns));
  };
  std::string text = line("measured alone", sum.measured, sum.measured_ns);
  if (sum.estimated > 0) text += line("estimated (~)", sum.estimated, sum.estimated_ns);
  return text + line("launching them", sum.measured + sum.estimated, sum.launch_ns) +
         fmt::format("  {:<16} {:>11} {:>12.1f} us\n", "together", "", to_us(*explanation.cover_ns));
}

/// "8.18 GFLOP", "0.002 MFLOP".
std::string flops_text(double flops) {
  return flops >= 1e9 ? fmt::format("{:.3g} GFLOP", flops / 1e9) : fmt::format("{:.3g} MFLOP", flops / 1e6);
}

double flops_of(const Plan& plan, const Explanation& explanation) {
  double flops = 0;
  for (const StepWork& work : work_of_steps(plan, explanation)) flops += work.flops;
  return flops;
}

/// How near its arithmetic is to what the machine can do, "" when one of them is not known.
std::string rate_text(const Plan& plan, const Explanation& explanation, double measured_us) {
  const double flops = flops_of(plan, explanation);
  if (flops == 0 || !explanation.peak) return "";
  // Operations a nanosecond are billions a second.
  const double rate = flops / (1000 * measured_us);
  return fmt::format("  {} as the operators are defined: {:.1f} GFLOP/s, {:.0f} % of the f32 peak\n", flops_text(flops),
                     rate, 100 * rate / explanation.peak->flops_per_ns);
}

std::string head_text(const Plan& plan, const Explanation& explanation) {
  const StepCounts counts = count_steps(plan);
  const std::string views = counts.views == 0 ? "" : fmt::format(", {} of them views (nothing runs)", counts.views);
  std::string text =
      fmt::format("{}: {} step{}{}; ships {}, {} thread{}\n", plan.model_path, counts.steps, plural(counts.steps),
                  views, explanation.plan.empty() ? plan.shipped : explanation.plan, plan.threads,
                  plural(static_cast<std::size_t>(plan.threads)));
  if (!plan.passes_off.empty()) text += fmt::format("passes switched off: {}\n", fmt::join(plan.passes_off, ", "));
  if (is_of_plan(explanation)) text += sum_text(explanation);
  if (plan.report && plan.report->search.measured_us > 0)
    text += fmt::format("  {:<16} {:>11} {:>12.1f} us\n", "the whole took", "", plan.report->search.measured_us) +
            rate_text(plan, explanation, plan.report->search.measured_us);
  return text;
}

/// The fastest first.
std::vector<TimedPlan> plans_in(const PlanReport& report) {
  std::vector<TimedPlan> plans = report.plans;
  if (plans.empty())
    for (const auto& [name, us] : report.rivals) plans.push_back({.name = name, .us = us});
  std::ranges::sort(plans, {}, [](const TimedPlan& plan) { return std::pair(plan.us, plan.name); });
  return plans;
}

/// How many times faster than it the plan that ships is, "" when that is not known.
std::string faster_text(const TimedPlan& plan) {
  if (!plan.faster) return "";
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", plan.faster->ratio, plan.faster->low, plan.faster->high);
}

std::string plans_text(const PlanReport& report) {
  std::string text;
  for (const TimedPlan& plan : plans_in(report))
    text += fmt::format("  {:>10.1f} us  {:<19} {}\n", plan.us, faster_text(plan), plan.name);
  return text.empty() ? text : "other plans, timed end to end; how many times faster this one is\n" + text;
}

ordered_json search_as_json(const Plan& plan) {
  if (!plan.report) return ordered_json::object();
  const SearchReport& search = plan.report->search;
  return {{"candidates", search.candidates},
          {"cover_us", search.cover_us},
          {"measured_us", search.measured_us},
          {"model_bound_us", search.model_bound_us},
          {"proven_bound_us", search.proven_bound_us}};
}

/// Null when they are not of the plan's steps.
ordered_json sums_as_json(const Explanation& explanation) {
  if (!is_of_plan(explanation)) return nullptr;
  const ExplainedSum& sum = explanation.sum;
  return {{"measured_steps", sum.measured},    {"measured_us", to_us(sum.measured_ns)},
          {"estimated_steps", sum.estimated},  {"estimated_us", to_us(sum.estimated_ns)},
          {"launch_us", to_us(sum.launch_ns)}, {"total_us", to_us(*explanation.cover_ns)}};
}

/// Billions of operations and of bytes a second; null when the plan does not know them.
ordered_json peak_as_json(const Explanation& explanation) {
  if (!explanation.peak) return nullptr;
  return {{"gflops", explanation.peak->flops_per_ns},
          {"cache_gb_per_s", explanation.peak->cache_bytes_per_ns},
          {"memory_gb_per_s", explanation.peak->memory_bytes_per_ns}};
}

/// Node -> backend -> what it said to the node alone.
ordered_json refusals_of(const Explanation& explanation, const AskedNodes& asked) {
  ordered_json object = ordered_json::object();
  for (const ExplainedNode& node : explanation.nodes)
    for (const std::uint32_t r : node.refusals) {
      const ExplainedRefusal& refusal = explanation.refusals[r];
      if (refusal.nodes != 1 || (!asked.empty() && !asked.contains(node.name))) continue;
      ordered_json& said = object[node.name][refusal.backend];
      if (said.is_null()) said = refusal.reason + ": " + refusal.detail;
    }
  return object;
}

}  // namespace

ordered_json plans_as_json(const PlanReport& report) {
  ordered_json list = ordered_json::array();
  for (const TimedPlan& plan : plans_in(report)) {
    list.push_back({{"name", plan.name}, {"us", plan.us}, {"is_engine", plan.is_engine}});
    if (plan.faster)
      list.back()["faster"] = {{"ratio", plan.faster->ratio}, {"low", plan.faster->low}, {"high", plan.faster->high}};
  }
  return list;
}

Result<std::string> explain_as_text(const Plan& plan, const std::string& node) {
  const Explanation explanation = explanation_of(plan);
  COLLAGE_TRY(const AskedNodes asked, asked_nodes(plan, explanation, node));
  const PlanReport report = plan.report.value_or(PlanReport());
  std::string text =
      head_text(plan, explanation) + precision_as_text(explanation) + steps_as_text(plan, explanation, asked);
  if (asked.empty()) return text + plans_text(report) + totals_as_text(explanation) + alternatives_as_text(explanation);
  for (const ExplainedNode& explained : explanation.nodes)
    if (asked.contains(explained.name)) text += node_as_text(explanation, explained);
  return text;
}

Result<std::string> explain_as_json(const Plan& plan, const std::string& node, const ordered_json& origin) {
  const Explanation explanation = explanation_of(plan);
  COLLAGE_TRY(const AskedNodes asked, asked_nodes(plan, explanation, node));
  const PlanReport report = plan.report.value_or(PlanReport());
  const StepCounts counts = count_steps(plan);
  ordered_json nodes = ordered_json::array();
  for (const ExplainedNode& explained : explanation.nodes)
    if (asked.empty() || asked.contains(explained.name)) nodes.push_back(node_as_json(explanation, explained));
  const ordered_json object = {{"schema", "collage.explain/1"},
                               {"model", plan.model_path},
                               {"origin", origin},
                               {"threads", plan.threads},
                               {"passes_off", plan.passes_off},
                               {"shipped", plan.shipped},
                               {"step_count", counts.steps},
                               {"view_count", counts.views},
                               {"step_backends", counts.backends},
                               {"search", search_as_json(plan)},
                               {"sums", sums_as_json(explanation)},
                               {"gaps", gaps_as_json(explanation)},
                               {"losses", losses_as_json(explanation)},
                               {"precision", precision_as_json(explanation)},
                               {"peak", peak_as_json(explanation)},
                               {"rivals", report.rivals},
                               {"plans", plans_as_json(report)},
                               {"backends", explanation.backends},
                               {"fillers", explanation.fillers},
                               {"only", explanation.only},
                               {"absent", explanation.absent},
                               {"alternatives", alternatives_as_json(explanation)},
                               {"steps", steps_as_json(plan, explanation, asked)},
                               {"nodes", nodes},
                               {"refusals", refusals_of(explanation, asked)}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage
