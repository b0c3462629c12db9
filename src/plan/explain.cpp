#include "plan/explain.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plan/explain_cover.h"
#include "plan/explain_json.h"
#include "plan/explain_node.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNames = 3;

/// All steps, timed alone.
double total_us(const Plan& plan) {
  return std::accumulate(plan.steps.begin(), plan.steps.end(), 0.0,
                         [](double sum, const PlanStep& step) { return sum + us(step.cost_ns); });
}

/// The step computes the node itself or in a body.
bool runs(const PlanStep& step, const std::string& node) {
  if (std::ranges::find(step.nodes, node) != step.nodes.end()) return true;
  return std::ranges::any_of(step.bodies, [&](const PlanBody& body) {
    return std::ranges::any_of(body.steps, [&](const PlanStep& inside) { return runs(inside, node); });
  });
}

std::string who(const PlanStep& step) {
  if (step.kind == StepKind::kView) return "nobody: the same bytes";
  return step.variant.empty() ? step.backend : step.backend + "/" + step.variant;
}

/// The nodes of a step, or the value a conversion moves and between which formats.
std::string what(const PlanBody& plan, const PlanStep& step, std::size_t most_names) {
  if (step.nodes.empty() && !step.inputs.empty() && !step.outputs.empty()) {
    const PlanValue& from = plan.values[step.inputs.front()];
    const PlanValue& to = plan.values[step.outputs.front()];
    if (step.kind == StepKind::kTransfer) return fmt::format("{}: {} to {}", from.name, from.location, to.location);
    if (from.format == to.format) return fmt::format("{}: copied", from.name);
    return fmt::format("{}: {} to {}", from.name, from.format.name, to.format.name);
  }
  const std::size_t shown = std::min(step.nodes.size(), most_names);
  std::string text = fmt::format("{}", fmt::join(step.nodes.begin(), step.nodes.begin() + std::ptrdiff_t(shown), " "));
  if (shown < step.nodes.size()) text += fmt::format(" and {} more", step.nodes.size() - shown);
  return text;
}

ordered_json report_of(const Plan& plan) {
  auto report = ordered_json::parse(plan.report_json, nullptr, false);
  return report.is_object() ? report : ordered_json::object();
}

/// An object of the report, empty when the plan has none.
ordered_json part(const ordered_json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : ordered_json::object();
}

std::optional<double> number(const ordered_json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// What the plan says about its own making; empty when it says nothing.
Explanation explanation_of(const Plan& plan) {
  return explanation_in(plan.report_json, plan.model_path).value_or(Explanation());
}

Result<void> check_node(const Plan& plan, const Explanation& explanation, const std::string& node) {
  if (node.empty() || find_node(explanation, node) ||
      std::ranges::any_of(plan.steps, [&](const PlanStep& step) { return runs(step, node); }))
    return {};
  return fail(ExitCode::kUsage, "plan/no-such-node", plan.model_path, "node " + node,
              "a node that a step computes; `explain PLAN --json -` lists all");
}

/// One row of the table; `share` is text because a step in a body has none: how often it runs is not known here.
std::string row(const PlanBody& plan, std::size_t index, const std::string& share, const std::string& indent,
                std::size_t most_names) {
  const PlanStep& step = plan.steps[index];
  return fmt::format("{:>5} {:>10.1f} {:>6}  {:<28} {:<32} {}\n", index, us(step.cost_ns), share, indent + who(step),
                     step.runner_up.empty() ? "-" : step.runner_up, what(plan, step, most_names));
}

/// The steps of a step's bodies, or those that run a node; times are of one run of the body.
std::string bodies_text(const PlanStep& step, const std::string& node, const std::string& indent) {
  std::string text;
  for (const PlanBody& body : step.bodies) {
    std::string inside;
    for (std::size_t s = 0; s < body.steps.size(); ++s) {
      if (!node.empty() && !runs(body.steps[s], node)) continue;
      inside += row(body, s, "", indent, node.empty() ? kMostNames : body.steps[s].nodes.size());
      inside += bodies_text(body.steps[s], node, indent + "  ");
    }
    if (!inside.empty() || node.empty()) text += fmt::format("{:>25}{}body {}\n", "", indent, body.name) + inside;
  }
  return text;
}

std::string line(const Plan& plan, std::size_t index, double total, const std::string& node) {
  const PlanStep& step = plan.steps[index];
  const bool is_inside = std::ranges::find(step.nodes, node) == step.nodes.end();
  const std::string share = fmt::format("{:.1f}%", total > 0 ? 100 * us(step.cost_ns) / total : 0);
  return row(plan, index, share, "", node.empty() ? kMostNames : step.nodes.size()) +
         bodies_text(step, is_inside ? node : "", "  ");
}

std::string head_text(const Plan& plan, const ordered_json& report) {
  std::string text = fmt::format("{}: {} steps, shipped {}, {} thread{}\n", plan.model_path, plan.steps.size(),
                                 plan.shipped, plan.threads, plan.threads == 1 ? "" : "s");
  text += fmt::format("steps timed alone add up to {:.1f} us", total_us(plan));
  const ordered_json search = part(report, "search");
  if (const auto measured = number(search, "measured_us")) text += fmt::format("; the whole took {:.1f} us", *measured);
  if (const auto bound = number(search, "model_bound_us"))
    text += fmt::format("; no cover of these candidates adds up to less than {:.1f} us", *bound);
  return text + "\n";
}

std::string rivals_text(const ordered_json& report) {
  std::vector<std::pair<double, std::string>> rivals;
  const ordered_json times = part(report, "rivals");
  for (const auto& [name, time] : times.items())
    if (time.is_number()) rivals.emplace_back(time.get<double>(), name);
  std::ranges::sort(rivals);
  std::string text;
  for (const auto& [time, name] : rivals) text += fmt::format("  {:>10.1f} us  {}\n", time, name);
  return text.empty() ? text : "other plans, timed end to end\n" + text;
}

/// Node -> backend -> what it said to the node alone.
ordered_json refusals_of(const Explanation& explanation, const std::string& only) {
  ordered_json object = ordered_json::object();
  for (const ExplainedNode& node : explanation.nodes)
    for (const std::uint32_t r : node.refusals) {
      const ExplainedRefusal& refusal = explanation.refusals[r];
      if (refusal.nodes != 1 || (!only.empty() && node.name != only)) continue;
      ordered_json& said = object[node.name][refusal.backend];
      if (said.is_null()) said = refusal.reason + ": " + refusal.detail;
    }
  return object;
}

ordered_json to_json(const PlanBody& plan, std::size_t index) {
  const PlanStep& step = plan.steps[index];
  ordered_json object = {{"step", index},
                         {"kind", plan_name_of(step.kind)},
                         {"backend", step.backend},
                         {"variant", step.variant},
                         {"nodes", step.nodes},
                         {"cost_us", us(step.cost_ns)},
                         {"cost_low_us", us(step.cost_low_ns)},
                         {"cost_high_us", us(step.cost_high_ns)},
                         {"runner_up", step.runner_up}};
  for (const auto& [key, list] : {std::pair{"inputs", &step.inputs}, std::pair{"outputs", &step.outputs}}) {
    object[key] = ordered_json::array();
    for (const PlanIndex value : *list)
      object[key].push_back({{"name", plan.values[value].name}, {"format", plan.values[value].format.name}});
  }
  for (const PlanBody& body : step.bodies) {
    ordered_json inside = {{"name", body.name}, {"steps", ordered_json::array()}};
    for (std::size_t s = 0; s < body.steps.size(); ++s) inside["steps"].push_back(to_json(body, s));
    object["bodies"].push_back(std::move(inside));
  }
  return object;
}

}  // namespace

Result<std::string> explain_as_text(const Plan& plan, const std::string& node) {
  const Explanation explanation = explanation_of(plan);
  COLLAGE_TRY_VOID(check_node(plan, explanation, node));
  const ordered_json report = report_of(plan);
  const double total = total_us(plan);
  std::string text = head_text(plan, report);
  text += fmt::format("{:>5} {:>10} {:>6}  {:<28} {:<32} {}\n", "step", "us", "share", "who", "runner-up", "nodes");
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    if (node.empty() || runs(plan.steps[s], node)) text += line(plan, s, total, node);
  if (node.empty()) return text + rivals_text(report) + totals_as_text(explanation) + alternatives_as_text(explanation);
  const ExplainedNode* explained = find_node(explanation, node);
  return explained ? text + node_as_text(explanation, *explained) : text;
}

Result<std::string> explain_as_json(const Plan& plan, const std::string& node) {
  const Explanation explanation = explanation_of(plan);
  COLLAGE_TRY_VOID(check_node(plan, explanation, node));
  const ordered_json report = report_of(plan);
  ordered_json steps = ordered_json::array();
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    if (node.empty() || runs(plan.steps[s], node)) steps.push_back(to_json(plan, s));
  ordered_json nodes = ordered_json::array();
  for (const ExplainedNode& explained : explanation.nodes)
    if (node.empty() || explained.name == node) nodes.push_back(node_as_json(explanation, explained));
  const ordered_json object = {{"schema", "collage.explain/1"},
                               {"model", plan.model_path},
                               {"threads", plan.threads},
                               {"shipped", plan.shipped},
                               {"search", part(report, "search")},
                               {"gaps", gaps_as_json(explanation)},
                               {"losses", losses_as_json(explanation)},
                               {"rivals", part(report, "rivals")},
                               {"backends", explanation.backends},
                               {"fillers", explanation.fillers},
                               {"only", explanation.only},
                               {"absent", explanation.absent},
                               {"alternatives", alternatives_as_json(explanation)},
                               {"steps", steps},
                               {"nodes", nodes},
                               {"refusals", refusals_of(explanation, node)}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage
