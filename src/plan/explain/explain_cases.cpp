#include "plan/explain/explain_cases.h"

#include <fmt/format.h>

#include "base/json_numbers.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

std::string who(const Plan& plan) {
  std::string text;
  for (const auto& [name, count] : count_steps(plan).backends)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text;
}

/// "-" where nothing was timed.
std::string time_text(double us) { return us > 0 ? fmt::format("{:.1f}", us) : "-"; }

}  // namespace

std::string explain_as_text(const PlanCases& cases) {
  const Plan& any = any_plan(cases).plan;
  std::string text = fmt::format("{}: {} shapes of {}, {} thread{}\n", any.model_path, cases.cases.size(),
                                 to_string(cases.domain), any.threads, any.threads == 1 ? "" : "s");
  text += fmt::format("{:<28} {:>10} {:>12} {:>7} {:>10}  {:<32} {}\n", "shape", "us", "generic us", "weight",
                      "arena KiB", "steps", "shipped");
  for (const PlanCase& one : cases.cases)
    text +=
        fmt::format("{:<28} {:>10} {:>12} {:>7.3g} {:>10.1f}  {:<32} {}\n", to_string(cases.domain, one.point),
                    time_text(one.measured_us), time_text(one.generic_us), one.weight,
                    static_cast<double>(one.plan.plan.arena_bytes) / 1024, one.plan.plan.shipped, who(one.plan.plan));
  if (cases.generic)
    text += fmt::format("every other shape: {}, dimensions open\n", cases.generic->plan.shipped);
  else
    text += "every other shape is refused: no engine takes the model with open dimensions\n";
  return text + "`explain PLAN --shape DIM=N ...` shows one of them\n";
}

std::string explain_as_json(const PlanCases& cases, const ordered_json& origin) {
  const Plan& any = any_plan(cases).plan;
  ordered_json domain = ordered_json::array();
  for (const DimensionRange& range : cases.domain.dimensions)
    domain.push_back({{"name", range.name}, {"low", range.low}, {"high", range.high}});
  ordered_json list = ordered_json::array();
  for (const PlanCase& one : cases.cases) {
    ordered_json extents = ordered_json::object();
    for (std::size_t d = 0; d < one.point.size(); ++d) extents[cases.domain.dimensions[d].name] = one.point[d];
    list.push_back({{"extents", extents},
                    {"weight", one.weight},
                    {"measured_us", one.measured_us},
                    {"generic_us", one.generic_us},
                    {"arena_bytes", one.plan.plan.arena_bytes},
                    {"shipped", one.plan.plan.shipped},
                    {"steps", count_steps(one.plan.plan).steps},
                    {"backends", count_steps(one.plan.plan).backends}});
  }
  ordered_json object = {{"schema", "collage.explain-cases/1"},
                         {"model", any.model_path},
                         {"origin", origin},
                         {"threads", any.threads},
                         {"domain", domain},
                         {"cases", list},
                         {"generic", nullptr}};
  if (cases.generic)
    object["generic"] = {{"shipped", cases.generic->plan.shipped},
                         {"backends", count_steps(cases.generic->plan).backends}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage
