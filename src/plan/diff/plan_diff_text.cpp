#include <algorithm>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "base/shorten.h"
#include "plan/diff/plan_diff.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostParts = 30;
constexpr std::size_t kMostListed = 2;
constexpr std::size_t kLongestNode = 40;

double measured_us(const Plan& plan) { return plan.report ? plan.report->search.measured_us : 0; }

std::string nodes_text(const std::vector<std::string>& nodes) {
  std::string text;
  for (std::size_t n = 0; n < std::min(kMostListed, nodes.size()); ++n)
    text += (n == 0 ? "" : " ") + shortened(nodes[n], kLongestNode);
  return nodes.size() > kMostListed ? text + fmt::format(" and {} more", nodes.size() - kMostListed) : text;
}

/// Each name once, with how often it stands there; at most kMostListed of them.
std::string who_text(const DiffSide& side) {
  std::string text;
  std::vector<std::string> seen;
  for (const std::string& name : side.who) {
    if (std::ranges::find(seen, name) != seen.end()) continue;
    seen.push_back(name);
    if (seen.size() > kMostListed) continue;
    const auto count = std::ranges::count(side.who, name);
    text += (text.empty() ? "" : ", ") + name + (count > 1 ? fmt::format(" x {}", count) : "");
  }
  if (seen.size() > kMostListed) text += fmt::format(" and {} others", seen.size() - kMostListed);
  return text.empty() ? "nothing" : text;
}

/// "-" when the plan has none.
std::string time_text(const DiffSide& side) {
  return side.is_priced ? fmt::format("{}{:.1f}", side.estimated ? "~" : "", side.us) : "-";
}

std::string more_text(const std::optional<double>& more_us) { return more_us ? fmt::format("{:+.1f}", *more_us) : "-"; }

ordered_json or_null(const std::optional<double>& us) { return us ? ordered_json(*us) : ordered_json(nullptr); }

std::string plan_line(const char* letter, const DiffedPlan& plan) {
  const double us = measured_us(*plan.plan);
  return fmt::format("{}  {}: {}, {} steps, {} thread{}, {}, on {}\n", letter, plan.name,
                     us > 0 ? fmt::format("{:.1f} us", us) : "not timed", step_count(*plan.plan), plan.plan->threads,
                     plan.plan->threads == 1 ? "" : "s", plan.plan->accuracy, plan.plan->machine);
}

std::string missing_text(const std::vector<std::string>& nodes, const char* where) {
  return nodes.empty() ? "" : fmt::format("{} nodes are in {} alone: {}\n", nodes.size(), where, nodes_text(nodes));
}

ordered_json side_as_json(const DiffSide& side) {
  const std::optional<double> us = side.is_priced ? std::optional(side.us) : std::nullopt;
  return {{"steps", side.steps}, {"who", side.who}, {"us", or_null(us)}, {"estimated", side.estimated}};
}

ordered_json plan_as_json(const DiffedPlan& plan) {
  ordered_json object = {{"plan", plan.name},
                         {"model", plan.plan->model_path},
                         {"machine", plan.plan->machine},
                         {"threads", plan.plan->threads},
                         {"accuracy", plan.plan->accuracy},
                         {"step_count", step_count(*plan.plan)},
                         {"measured_us", nullptr}};
  if (const double us = measured_us(*plan.plan); us > 0) object["measured_us"] = us;
  return object;
}

}  // namespace

std::string to_text(const PlanDiff& diff) {
  std::string text = plan_line("A", diff.a) + plan_line("B", diff.b);
  if (diff.a.plan->machine != diff.b.plan->machine) text += "two machines: their times compare badly\n";
  text += missing_text(diff.only_in_a, "A") + missing_text(diff.only_in_b, "B");
  const auto differing = std::ranges::count_if(diff.parts, &DiffPart::differs);
  text +=
      fmt::format("{} of {} parts of the graph run otherwise; times of steps alone\n", differing, diff.parts.size());
  if (differing > 0) text += fmt::format("{:>10} {:>10} {:>10}  nodes, below: A, then B\n", "A us", "B us", "B - A");
  DiffPart alike;
  std::size_t shown = 0;
  for (const DiffPart& part : diff.parts) {
    if (!part.differs) {
      alike.a.us += part.a.us;
      alike.b.us += part.b.us;
      alike.a.is_priced &= part.a.is_priced;
      alike.b.is_priced &= part.b.is_priced;
    } else if (shown++ < kMostParts) {
      text +=
          fmt::format("{:>10} {:>10} {:>10}  {}\n{:>34}{}\n{:>34}{}\n", time_text(part.a), time_text(part.b),
                      more_text(part.more_us()), nodes_text(part.nodes), "", who_text(part.a), "", who_text(part.b));
    }
  }
  if (shown > kMostParts) text += fmt::format("{:>34}and {} more (--json lists all)\n", "", shown - kMostParts);
  const auto sums = [&](const DiffPart& part, const std::string& what) {
    text += fmt::format("{:>10} {:>10} {:>10}  {}\n", time_text(part.a), time_text(part.b), more_text(part.more_us()),
                        what);
  };
  sums({.nodes = {}, .a = diff.conversions_a, .b = diff.conversions_b},
       fmt::format("conversions: {} in A, {} in B", diff.conversions_a.steps.size(), diff.conversions_b.steps.size()));
  sums(alike, "the parts that run alike");
  return text;
}

std::string to_json(const PlanDiff& diff) {
  ordered_json parts = ordered_json::array();
  for (const DiffPart& part : diff.parts)
    parts.push_back({{"nodes", part.nodes},
                     {"differs", part.differs},
                     {"more_us", or_null(part.more_us())},
                     {"a", side_as_json(part.a)},
                     {"b", side_as_json(part.b)}});
  const ordered_json object = {
      {"schema", "collage.diff/1"},
      {"a", plan_as_json(diff.a)},
      {"b", plan_as_json(diff.b)},
      {"same_machine", diff.a.plan->machine == diff.b.plan->machine},
      {"only_in_a", diff.only_in_a},
      {"only_in_b", diff.only_in_b},
      {"parts", parts},
      {"conversions", {{"a", side_as_json(diff.conversions_a)}, {"b", side_as_json(diff.conversions_b)}}}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage
