#include "plan/explain/explain_steps.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "base/suggest.h"
#include "plan/explain/explain_json.h"
#include "plan/explain/explain_precision.h"
#include "plan/explain/step_words.h"
#include "plan/explain/step_work.h"
#include "region/rules/partition_rule.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNamesInRow = 3;

/// All steps, alone.
double total_us(const Plan& plan) {
  return std::accumulate(plan.steps.begin(), plan.steps.end(), 0.0,
                         [](double sum, const PlanStep& step) { return sum + to_us(step.cost_ns); });
}

bool names_one(const PlanStep& step, const AskedNodes& asked) {
  return std::ranges::any_of(nodes_of(step).names, [&](const std::string& node) { return asked.contains(node); });
}

/// The step computes one of the nodes itself or in a body.
bool runs(const PlanStep& step, const AskedNodes& asked) {
  if (asked.empty() || names_one(step, asked)) return true;
  return std::ranges::any_of(bodies_of(step), [&](const PlanBody& body) {
    return std::ranges::any_of(body.steps, [&](const PlanStep& inside) { return runs(inside, asked); });
  });
}

void add_nodes(const PlanBody& plan, std::set<std::string>& names) {
  for (const PlanStep& step : plan.steps) {
    names.insert(nodes_of(step).names.begin(), nodes_of(step).names.end());
    for (const PlanBody& body : bodies_of(step)) add_nodes(body, names);
  }
}

std::string runner(const PlanStep& step) { return is_view(step) ? "nobody: the same bytes" : who(step); }

/// "~" marks an estimate: the shortest of a few runs, or a forecast. "-" is what nobody priced.
std::string time_text(const PlanStep& step) {
  if (step.cost_ns == 0 && !is_view(step)) return "-";
  return fmt::format("{}{:.1f}", step.is_estimated ? "~" : "", to_us(step.cost_ns));
}

/// Where the names begin in the table, and how much of a line of 80 columns they have.
constexpr std::size_t kIndent = 25;
constexpr std::size_t kNames = 80 - kIndent;
constexpr std::size_t kWho = 27;

/// Words on lines of at most kNames, each after the indent; a longer word has a line of its own.
std::string wrapped(const std::string& words) {
  std::string text;
  std::size_t used = 0;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const bool is_new = used == 0 || used + 1 + (end - begin) > kNames;
    text += is_new ? fmt::format("{}{:>{}}", used == 0 ? "" : "\n", "", kIndent) : " ";
    used = (is_new ? 0 : used + 1) + (end - begin);
    text += words.substr(begin, end - begin);
    begin = end + 1;
  }
  return text + "\n";
}

/// Side by side where both fit, else one below the other.
std::string side_by_side(const std::string& first, const std::string& second) {
  if (first.size() < kWho && second.size() <= kNames - kWho) return fmt::format("{:<{}}{}\n", first, kWho, second);
  return fmt::format("{}\n{:>{}}{}\n", first, "", kIndent, second);
}

/// One row of the table; `share` is text because a step in a body has none: how often it runs is not known here.
std::string row(const PlanBody& plan, std::size_t index, const std::string& share, const std::string& indent,
                std::size_t most_names) {
  const PlanStep& step = plan.steps[index];
  return fmt::format("{:>5} {:>10} {:>6}  ", index, time_text(step), share) +
         side_by_side(indent + runner(step), step.runner_up.empty() ? "-" : step.runner_up) +
         wrapped(what(plan, step, most_names));
}

/// The steps of a step's bodies, or those that run a node asked about; times are of one run of the body.
std::string bodies_text(const PlanStep& step, const AskedNodes& asked, const std::string& indent) {
  std::string text;
  for (const PlanBody& body : bodies_of(step)) {
    std::string inside;
    for (std::size_t s = 0; s < body.steps.size(); ++s) {
      if (!runs(body.steps[s], asked)) continue;
      inside += row(body, s, "", indent, asked.empty() ? kNamesInRow : nodes_of(body.steps[s]).names.size());
      inside += bodies_text(body.steps[s], asked, indent + "  ");
    }
    if (!inside.empty() || asked.empty()) text += fmt::format("{:>25}{}body {}\n", "", indent, body.name) + inside;
  }
  return text;
}

std::string line(const Plan& plan, const Explanation& explanation, std::size_t index, double total,
                 const AskedNodes& asked) {
  const PlanStep& step = plan.steps[index];
  const ExplainedNarrowStep* const narrow = narrow_step_at(explanation, index);
  const std::string share = fmt::format("{:.1f}%", total > 0 ? 100 * to_us(step.cost_ns) / total : 0);
  return row(plan, index, share, "", asked.empty() ? kNamesInRow : nodes_of(step).names.size()) +
         (narrow != nullptr ? wrapped(to_text(*narrow)) : "") +
         bodies_text(step, names_one(step, asked) ? AskedNodes() : asked, "  ");
}

ordered_json to_json(const PlanBody& plan, std::size_t index) {
  const PlanStep& step = plan.steps[index];
  ordered_json object = {{"step", index},
                         {"kind", kind_name(step)},
                         {"backend", step.backend},
                         {"variant", step.variant},
                         {"nodes", nodes_of(step).names},
                         {"repeated", nodes_of(step).repeated},
                         {"cost_us", to_us(step.cost_ns)},
                         {"cost_low_us", to_us(step.cost_low_ns)},
                         {"cost_high_us", to_us(step.cost_high_ns)},
                         {"estimated", step.is_estimated},
                         {"runner_up", step.runner_up}};
  for (const auto& [key, list] : {std::pair{"inputs", &step.inputs}, std::pair{"outputs", &step.outputs}}) {
    object[key] = ordered_json::array();
    for (const PlanIndex value : *list)
      object[key].push_back({{"name", plan.values[value].name}, {"format", plan.values[value].place.format.name}});
  }
  for (const PlanBody& body : bodies_of(step)) {
    ordered_json inside = {{"name", body.name}, {"steps", ordered_json::array()}};
    for (std::size_t s = 0; s < body.steps.size(); ++s) inside["steps"].push_back(to_json(body, s));
    object["bodies"].push_back(std::move(inside));
  }
  return object;
}

}  // namespace

std::set<std::string> all_nodes(const Plan& plan, const Explanation& explanation) {
  std::set<std::string> names;
  add_nodes(plan, names);
  for (const ExplainedNode& node : explanation.nodes) names.insert(node.name);
  return names;
}

Result<AskedNodes> asked_nodes(const Plan& plan, const Explanation& explanation, const std::string& glob) {
  if (glob.empty()) return AskedNodes();
  const std::set<std::string> names = all_nodes(plan, explanation);
  if (names.contains(glob)) return AskedNodes{glob};
  AskedNodes asked;
  for (const std::string& name : names)
    if (matches_glob(name, {glob})) asked.insert(name);
  if (!asked.empty()) return asked;
  return fail(ExitCode::kUsage, "plan/no-such-node", plan.model_path,
              "node " + glob + did_you_mean(glob, std::vector<std::string>(names.begin(), names.end())),
              "a node that a step computes, or a glob of such (`explain PLAN --json -` lists all)");
}

std::string steps_as_text(const Plan& plan, const Explanation& explanation, const AskedNodes& asked) {
  const double total = total_us(plan);
  std::string text =
      fmt::format("{:>5} {:>10} {:>6}  {:<{}}{}\n", "step", "us", "share", "who", kWho, "runner-up, below: nodes");
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    if (runs(plan.steps[s], asked)) text += line(plan, explanation, s, total, asked);
  return text;
}

ordered_json steps_as_json(const Plan& plan, const Explanation& explanation, const AskedNodes& asked) {
  ordered_json steps = ordered_json::array();
  const std::vector<StepWork> works = work_of_steps(plan, explanation);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (!runs(plan.steps[s], asked)) continue;
    steps.push_back(to_json(plan, s));
    if (explanation.peak) steps.back()["flops"] = works[s].flops;
    steps.back()["bytes"] = works[s].bytes;
    if (works[s].roofline_us) steps.back()["roofline_us"] = *works[s].roofline_us;
    if (const auto* narrow = narrow_step_at(explanation, s)) steps.back()["precision"] = to_ordered_json(*narrow);
  }
  return steps;
}

}  // namespace collage
